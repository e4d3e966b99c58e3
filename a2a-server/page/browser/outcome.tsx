/** Shows the outcome of a decided action in place of its buttons. */
import { useEffect, useState } from 'preact/hooks';
import { outcomeText } from './outcome-text.ts';
import { standingCall } from './standing-call.ts';

export function Outcome({ taskId, callId }: { taskId: string; callId: string }) {
  const [text, setText] = useState('This action no longer waits.');
  useEffect(() => {
    void standingCall(taskId, callId).then(
      (found) => setText(outcomeText(found)),
      () => undefined,
    );
  }, [taskId, callId]);
  return <p class="outcome">{text}</p>;
}
