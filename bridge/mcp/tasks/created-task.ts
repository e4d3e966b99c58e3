/** A task in place of a result: what a call returns at once to a client that takes tasks. */
import type { Session } from '../../sessions/session.ts';
import type { WaitEnd } from '../../sessions/wait-for-session.ts';
import { sessionReply } from '../tool/session-reply.ts';
import type { ToolCall } from '../tool/tool.ts';
import { resultOf, type Reply } from '../tool/tool-result.ts';
import type { SessionReport } from '../reports/session-report.ts';
import { taskCreatedAt } from './task-created-at.ts';
import { detailedTask } from './detailed-task.ts';
import { handleOf } from '../../sessions/task-handle.ts';

/**
 * "A server MUST NOT return `CreateTaskResult` until the task is durably created": its delegation is in the outbox, or its
 * agent has it. Beside the task it says what the session's report says, for whoever reads that.
 */
export async function createdTask(
  call: ToolCall,
  session: Session,
  end: WaitEnd,
): Promise<Reply<SessionReport>> {
  // What there is to tell is told with a result that somebody reads.
  const reply = sessionReply({ ...call, news: () => [] }, session, { end });
  const taskId = handleOf({ sessionId: session.id, taskId: session.view?.taskId ?? '' });
  const task = detailedTask({
    taskId,
    agent: session.agent.name,
    sessionId: session.id,
    view: session.view,
    trouble: undefined,
    createdAt: taskCreatedAt(call.bridge.sessions, session),
    changedAt: session.changedAt,
    forms: [],
    beyondForms: false,
    result: () => resultOf(reply),
  });
  call.followed?.follows(session);
  // Its first state is the seed: what it waits for is read with `tasks/get`, where it can be answered.
  return { ...reply, interim: { ...resultOf(reply), ...task, status: 'working', resultType: 'task' } };
}
