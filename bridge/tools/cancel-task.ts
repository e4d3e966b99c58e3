/** `cancel_running_task`: end a session's task. */
import { z } from 'zod';
import { asEvent } from '../agents/task-event.ts';
import { sessionReport } from '../results/session-report.ts';
import type { Session } from '../sessions/session.ts';
import { hasEnded } from '../sessions/view.ts';
import { ProductError } from '../../shared/errors.ts';
import * as fields from './fields.ts';
import { sessionReply } from './session-reply.ts';
import { defineTool, type ToolCall } from './tool.ts';

/** How long to wait for the agent to name a task that it has only just been given. */
const NAMING_MS = 10_000;

export const cancelTask = defineTool({
  name: 'cancel_running_task',
  title: 'Cancel a task',
  description: `Ends the session's task on the agent, also while it runs or waits for a decision: what is running stops, nothing more starts. The session stays and can be gone on with. To stop a single tool and let the task go on, use abort_tool_execution.`,
  input: z.strictObject({ sessionId: fields.sessionId, reason: fields.reason }),
  output: sessionReport,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  alwaysLoad: true,
  async run({ sessionId, reason = 'cancelled over MCP' }, call) {
    const session = await call.bridge.sessions.find(sessionId);
    if (session.view === undefined && !(await isNamed(session, call.signal))) {
      await call.bridge.delegations.cancelWhenKnown(session, reason);
      return sessionReply(call, session, {
        end: 'time',
        notes: ['The agent has not confirmed the task yet. It is cancelled as soon as it does.'],
      });
    }
    await session.refresh();
    const view = session.view;
    if (view === undefined || hasEnded(view)) {
      return sessionReply(call, session, {
        end: 'settled',
        notes: ['The task had ended before; there was nothing to cancel.'],
      });
    }
    try {
      await session.agent.ask(async (connection) => {
        session.take(asEvent(await connection.cancel(view.taskId, reason)), connection);
      });
    } catch (error) {
      return await endedMeanwhile(session, call, error);
    }
    return sessionReply(call, session, { end: 'settled' });
  },
});

/** A3: cancel and completion may race; the one that lost learns which won. */
async function endedMeanwhile(session: Session, call: ToolCall, error: unknown) {
  if (!(error instanceof ProductError) || error.reason !== 'TASK_ENDED') throw error;
  await session.refresh();
  return sessionReply(call, session, {
    end: 'settled',
    notes: ['The task ended before it could be cancelled.'],
  });
}

/** Whether the agent names the task in time. */
function isNamed(session: Session, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (named: boolean): void => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener('abort', gone);
      resolve(named);
    };
    const gone = (): void => end(false);
    const timer = setTimeout(() => end(false), NAMING_MS);
    const stop = session.listen(() => {
      if (session.view !== undefined) end(true);
    });
    signal.addEventListener('abort', gone, { once: true });
  });
}
