import { useEffect, useState } from 'preact/hooks';
import { useNow } from '../relative-time.tsx';
import { decidedElsewhereText, type SettledCall } from './decided-elsewhere-text.ts';
import * as z from 'zod/mini';
import { TOOL_APPROVAL_EXTENSION } from '../../../../shared/protocol/extensions.ts';
import { PAGE_API_URL, signedInFetch } from '../sign-in/sign-in.ts';
import { WrittenTexts } from './written-texts.tsx';

const call = z.object({
  callId: z.string(),
  state: z.string(),
  decided: z.optional(
    z.object({ decision: z.string(), by: z.string(), channel: z.string(), at: z.string() }),
  ),
});
const task = z.object({
  metadata: z.object({ [TOOL_APPROVAL_EXTENSION]: z.object({ calls: z.array(call) }) }),
});

/**
 * Gets the state of an action that no longer waits. Returns undefined if the task has no such call.
 * @throws Error if the server refuses the request
 */
async function fetchCallState(taskId: string, callId: string): Promise<SettledCall | undefined> {
  const response = await signedInFetch(`${PAGE_API_URL}/tasks/${encodeURIComponent(taskId)}`, {
    headers: { 'A2A-Version': '1.0', 'A2A-Extensions': TOOL_APPROVAL_EXTENSION },
  });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const { calls } = task.parse(await response.json()).metadata[TOOL_APPROVAL_EXTENSION];
  return calls.find((each) => each.callId === callId);
}

/** The interval between two updates of the decision's age. The age is shown in minutes, so half a minute is enough. */
const REDRAW_MS = 30_000;

export function SettledActionOutcome({ taskId, callId }: { taskId: string; callId: string }) {
  const [answer, setAnswer] = useState<{ found: SettledCall | undefined }>();
  const now = useNow(REDRAW_MS);
  useEffect(() => {
    void fetchCallState(taskId, callId).then(
      (found) => setAnswer({ found }),
      () => undefined,
    );
  }, [taskId, callId]);
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
      <WrittenTexts callId={callId} />
    </>
  );
}
