/** The MCP tool `wait_for_task`: waits until a task needs a decision or has ended. */
import { z } from 'zod';
import { sessionResultSchema } from '../reports/session-result.ts';
import { TASK_ID_TIMEOUT_MS } from '../../sessions/wait-for-session.ts';
import { continueAfterFormRound, awaitSession } from './await-session.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';

export const waitForTaskTool = defineBridgeTool({
  name: 'wait_for_task',
  title: 'Wait for a task',
  description: `Waits until the session's task has ended or needs a decision, at most waitSeconds, and returns what is new since the last result, or everything if nothing is new. Call it again to wait on.`,
  input: z.strictObject({
    sessionId: fields.sessionIdSchema,
    agent: fields.ownerAgentSchema,
    whole: z.boolean().optional().describe('Repeat everything, with whole inputs.'),
    waitSeconds: fields.waitSecondsSchema,
  }),
  output: sessionResultSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  card: 'shows',
  alwaysLoad: true,
  async run({ sessionId, agent, whole = false, waitSeconds }, received) {
    const call = { ...received, whole: received.whole || whole };
    if (call.client.round !== undefined) return continueAfterFormRound(call, call.client.round, waitSeconds);
    const timeout = call.waitMs(waitSeconds);
    const since = performance.now();
    const session = await call.bridge.sessions.find(sessionId, {
      agent,
      timeout: Math.max(timeout, TASK_ID_TIMEOUT_MS),
      signal: call.signal,
    });
    call.awaits({ session });
    await session.refreshState();
    const left = Math.max(0, timeout - (performance.now() - since));
    return awaitSession(call, { session, timeout: left, showsPending: true, outcome: true });
  },
});
