import { useContext } from 'preact/hooks';
import { visibleText } from '../../../../shared/text/visible-text.ts';
import { TaskDraftsContext } from './drafts-context.ts';
import { draftTextsOfCall } from './drafts.ts';

/** Shows what the person has written for an action that was decided elsewhere, so that the person can copy it. */
export function UnsentDrafts({ callId }: { callId: string }) {
  const texts = draftTextsOfCall(useContext(TaskDraftsContext), callId);
  if (texts.length === 0) return null;
  return (
    <>
      <p>You had written:</p>
      {texts.map((text, index) => (
        <pre key={index}>{visibleText(text)}</pre>
      ))}
    </>
  );
}
