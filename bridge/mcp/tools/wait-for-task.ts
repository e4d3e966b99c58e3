/** `wait_for_task`: waits until a task needs a decision or ends. */
import { z } from 'zod';
import { sessionReportSchema } from '../reports/session-report.ts';
import { NAMING_MS } from '../../sessions/wait-for-session.ts';
import { awaitRound, awaitSession } from './await-session.ts';
import * as fields from '../tool/input-fields.ts';
import { defineTool } from '../tool/tool.ts';

export const waitForTask = defineTool({
  name: 'wait_for_task',
  title: 'Wait for a task',
  description: `Waits until the session's task has ended or needs a decision, at most waitSeconds, and returns where it stands, with its full result. Call it again to wait on: nothing is lost between two calls.`,
  input: z.strictObject({
    sessionId: fields.sessionIdSchema,
    agent: fields.ownerAgentSchema,
    waitSeconds: fields.waitSecondsSchema,
  }),
  output: sessionReportSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  alwaysLoad: true,
  async run({ sessionId, agent, waitSeconds }, call) {
    if (call.client.round !== undefined) return awaitRound(call, call.client.round, waitSeconds);
    const { registry, sessions } = call.bridge;
    const timeout = call.timeout(waitSeconds);
    const since = performance.now();
    const session = await sessions.find(sessionId, {
      agent: registry.named(agent),
      timeout: Math.max(timeout, NAMING_MS),
      signal: call.signal,
    });
    call.awaits({ session });
    await session.refreshState();
    const left = Math.max(0, timeout - (performance.now() - since));
    return awaitSession(call, { session, timeout: left, showsPending: true, outcome: true });
  },
});
