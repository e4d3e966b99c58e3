/** Draws the reasoning of the model, folded. It is not part of the answer. */
import { useState } from 'preact/hooks';
import { visibleText } from '../../../../shared/text/visible-text.ts';
import { StoryStepTime } from './story-step-head.tsx';
import type { StoryReasoning } from './story.ts';

export function Reasoning({ step: { at, text } }: { step: StoryReasoning }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="quiet">Reasoning of the model, not part of the answer</span> <StoryStepTime at={at} />
      </summary>
      {open && <p class="plain quiet">{visibleText(text.trim())}</p>}
    </details>
  );
}
