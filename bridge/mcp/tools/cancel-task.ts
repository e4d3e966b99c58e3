/** The MCP tool `cancel_running_task`: cancels the task of a session. */
import { z } from 'zod';
import { sessionResultSchema } from '../reports/session-result.ts';
import type { CancelOutcome } from '../../sessions/cancel-task.ts';
import { isFirstAttempt } from '../../sessions/session/session-state.ts';
import { waitUntil } from '../../sessions/wait-for-session.ts';
import * as fields from '../tool/input-fields.ts';
import { sessionReply } from '../tool/session-reply.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';

/** The maximum time to wait for the id of a new task, in milliseconds. */
const MAX_WAIT_FOR_TASK_ID_MS = 10_000;

export const cancelTaskTool = defineBridgeTool({
  name: 'cancel_running_task',
  title: 'Cancel a task',
  description: `Ends the session's task, also while it waits for a decision. What runs stops, and nothing more starts. The session can go on. abort_tool_execution stops one tool only.`,
  input: z.strictObject({
    sessionId: fields.sessionIdSchema,
    agent: fields.ownerAgentSchema,
    reason: fields.reasonSchema,
  }),
  output: sessionResultSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  alwaysLoad: true,
  async run({ sessionId, agent, reason = 'no reason was given' }, call) {
    const { sessions, delegations } = call.bridge;
    const session = await sessions.find(sessionId, { agent });
    // If the client cancels this tool call, this wait ends, and the bridge still cancels the task.
    await waitUntil(session, () => !isFirstAttempt(session.state), {
      timeoutMs: MAX_WAIT_FOR_TASK_ID_MS,
      signal: call.signal,
    });
    const ran = session.view?.calls.some((each) => each.state === 'running') === true;
    const end = await delegations.cancel(session, reason, call.signal);
    const outlives = ran ? (await session.agent.connect()).dialect.hazards.outlivesCancel : null;
    return sessionReply(call, session, {
      end: end === 'cancelled-when-known' || end === 'cancelling' ? 'time' : 'settled',
      notes: [...NOTES[end], ...(outlives === null ? [] : [outlives])],
      next:
        end === 'withdrawn'
          ? 'Delegate it again when the agent can be reached, or to another agent.'
          : undefined,
    });
  },
});

const NOTES: Readonly<Record<CancelOutcome, readonly string[]>> = {
  cancelled: [],
  cancelling: [
    'The agent has accepted the cancel, but the task has not ended. It may go on to its end: not every agent can stop its work.',
  ],
  'cancelled-when-known': [
    'The agent has not confirmed the task yet. The bridge cancels the task as soon as the agent confirms it.',
  ],
  withdrawn: [
    'The agent never had the task. It was withdrawn: nothing of it has run, and it is not sent again.',
  ],
  'may-have-arrived': [
    'Nothing was cancelled: whether the agent has the task is not known. Look at the agent before you delegate it again.',
  ],
  'ended-before': ['The task had ended before it could be cancelled.'],
  'unknown-to-agent': ['There was nothing to cancel.'],
};
