/** Draws the story of a task. Draws the newest steps first, and earlier ones after a click. */
import { Component } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { countWithNoun } from '../../../../shared/text/one-line.ts';
import { scrollToPosition, trackScrollPosition, loadScrollPosition } from '../scroll-position.ts';
import type { StoryStep } from './story.ts';
import type { FollowedStory } from './use-story.ts';
import { StoryStepView } from './story-step.tsx';

const STEPS_PER_CLICK = 200;
const STEPS_PER_BLOCK = 40;
/** The maximum number of steps without a button that jumps to the end of the story. */
const MAX_STEPS_WITHOUT_JUMP = 8;

interface StoryViewProps {
  taskId: string;
  followed: FollowedStory;
  /** True until the task has ended. */
  live: boolean;
}

export function StoryView({ taskId, followed: { story, complete }, live }: StoryViewProps) {
  const { steps } = story;
  /** The index of the first step on the page. It is fixed, so that a new step removes no old step. */
  const [first, setFirst] = useState<number>();
  const list = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    if (!complete || first !== undefined) return;
    const place = loadScrollPosition(taskId);
    const wanted = place === undefined ? -1 : steps.findIndex(({ seq }) => seq === place.seq);
    setFirst(Math.max(0, Math.min(steps.length - STEPS_PER_CLICK, wanted < 0 ? Infinity : wanted)));
  }, [complete, first, steps, taskId]);

  const drawn = first !== undefined;
  useLayoutEffect(() => {
    if (!drawn || list.current === null) return undefined;
    scrollToPosition(list.current, loadScrollPosition(taskId));
    return trackScrollPosition(list.current, taskId);
  }, [drawn, taskId]);

  if (first === undefined) return <p class="quiet">Loading the steps …</p>;
  return (
    <section aria-label="Story" class="story">
      {steps.length > MAX_STEPS_WITHOUT_JUMP && (
        <button
          onClick={() => list.current?.lastElementChild?.lastElementChild?.scrollIntoView({ block: 'end' })}
        >
          Jump to the newest step
        </button>
      )}
      {first > 0 && (
        <button onClick={() => setFirst(Math.max(0, first - STEPS_PER_CLICK))}>
          Show {countWithNoun(Math.min(first, STEPS_PER_CLICK), 'earlier step')} of {first}
        </button>
      )}
      <div ref={list}>
        {blocksOf(steps, first).map(({ index, from, to }) => (
          <ol key={index} class="block">
            {steps.slice(from, to).map((step) => (
              <DrawnStep key={step.seq} step={step} live={live} />
            ))}
          </ol>
        ))}
      </div>
    </section>
  );
}

/**
 * Divides the steps from `first` on into blocks. The browser skips the layout of distant blocks. With one block per
 * step, the layout of a story with thousands of steps would take longer than a frame.
 */
function blocksOf(steps: readonly StoryStep[], first: number): { index: number; from: number; to: number }[] {
  const start = Math.floor(first / STEPS_PER_BLOCK);
  const end = Math.ceil(steps.length / STEPS_PER_BLOCK);
  return Array.from({ length: Math.max(0, end - start) }, (_, n) => {
    const from = (start + n) * STEPS_PER_BLOCK;
    return { index: start + n, from: Math.max(first, from), to: from + STEPS_PER_BLOCK };
  });
}

/** Draws a step again only if the step has changed or the task has ended. */
class DrawnStep extends Component<{ step: StoryStep; live: boolean }> {
  override shouldComponentUpdate({ step, live }: { step: StoryStep; live: boolean }): boolean {
    return step !== this.props.step || live !== this.props.live;
  }

  override render({ step, live }: { step: StoryStep; live: boolean }) {
    return (
      <li class={`step step-${step.type}`} data-seq={step.seq}>
        <StoryStepView step={step} live={live} />
      </li>
    );
  }
}
