import { useNow } from '../relative-time.tsx';
import { decidedElsewhereText, type SettledCall } from './decided-elsewhere-text.ts';
import * as z from 'zod/mini';
import { readTaskMetadata } from '../page-api.ts';
import { useLoaded } from '../use-loaded.ts';
import { UnsentDrafts } from './unsent-drafts.tsx';

const call = z.object({
  callId: z.string(),
  state: z.string(),
  decided: z.optional(
    z.object({ decision: z.string(), by: z.string(), channel: z.string(), at: z.string() }),
  ),
});
const taskMetadata = z.object({ calls: z.array(call) });

/**
 * Gets the state of an action that no longer waits. Returns undefined if the task has no such call.
 * @throws ClientError, or another error if the answer has no calls
 */
async function fetchCallState(taskId: string, callId: string): Promise<SettledCall | undefined> {
  const { calls } = await readTaskMetadata(taskId, taskMetadata);
  return calls.find((each) => each.callId === callId);
}

/** The interval between two updates of the decision's age. The age is shown in minutes, so half a minute is enough. */
const REDRAW_MS = 30_000;

export function SettledActionOutcome({ taskId, callId }: { taskId: string; callId: string }) {
  const now = useNow(REDRAW_MS);
  const { value: answer } = useLoaded(
    async () => ({ found: await fetchCallState(taskId, callId) }),
    [taskId, callId],
  );
  if (answer === undefined)
    return (
      <p class="outcome" data-live>
        This action no longer waits.
      </p>
    );
  return (
    <>
      <p class="outcome" data-live>
        {decidedElsewhereText(answer.found, now)}
      </p>
      <UnsentDrafts callId={callId} />
    </>
  );
}
