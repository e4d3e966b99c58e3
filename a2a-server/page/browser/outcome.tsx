/** Shows the outcome of a decided action in place of its buttons. */
import { useEffect, useState } from 'preact/hooks';
import { outcomeText, type SettledCall } from './outcome-text.ts';
import * as z from 'zod/mini';
import { TOOL_APPROVAL } from '../../../shared/protocol/extensions.ts';
import { API, signedInFetch } from './sign-in.ts';

const call = z.object({
  callId: z.string(),
  state: z.string(),
  decided: z.optional(z.object({ decision: z.string(), channel: z.string() })),
});
const task = z.object({
  metadata: z.object({ [TOOL_APPROVAL]: z.object({ calls: z.array(call) }) }),
});

/** Gets the state of an action that no longer waits. @returns undefined if the task has no such call. @throws Error */
async function fetchCallState(taskId: string, callId: string): Promise<SettledCall | undefined> {
  const response = await signedInFetch(`${API}/tasks/${encodeURIComponent(taskId)}`, {
    headers: { 'A2A-Version': '1.0', 'A2A-Extensions': TOOL_APPROVAL },
  });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const { calls } = task.parse(await response.json()).metadata[TOOL_APPROVAL];
  return calls.find((each) => each.callId === callId);
}

export function Outcome({ taskId, callId }: { taskId: string; callId: string }) {
  const [text, setText] = useState('This action no longer waits.');
  useEffect(() => {
    void fetchCallState(taskId, callId).then(
      (found) => setText(outcomeText(found)),
      () => undefined,
    );
  }, [taskId, callId]);
  return <p class="outcome">{text}</p>;
}
