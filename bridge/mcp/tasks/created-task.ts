/** Creates the MCP task that a tool call returns instead of a result, for clients with the tasks extension. */
import type { Session } from '../../sessions/session/session.ts';
import { isSessionOver, sessionProblem } from '../../sessions/session/session-state.ts';
import type { WaitEndReason } from '../../sessions/wait-for-session.ts';
import { sessionReply } from '../tool/session-reply.ts';
import type { ToolCallContext } from '../tool/tool.ts';
import { type InterimResult, toCallToolResult } from '../tool/tool-result.ts';
import { taskCreatedAt } from './task-created-at.ts';
import { toDetailedTask } from './detailed-task.ts';
import { encodeMcpTaskId } from '../../sessions/mcp-task-id.ts';

/**
 * Creates the MCP task of a tool call. "A server MUST NOT return `CreateTaskResult` until the task is durably created":
 * the outbox contains the delegation now, or the agent has the task. The result also contains the report of the
 * session.
 */
export async function createTaskReply(
  call: ToolCallContext,
  session: Session,
  end: WaitEndReason,
): Promise<{ interim: InterimResult }> {
  // The client might not show this reply. So it contains no announcement and no preview.
  const reply = sessionReply({ ...call, news: () => [], onConfirmed: () => undefined }, session, { end });
  // The view of a continued session may still show its earlier task. The new task has no id before the message is
  // delivered. So the task id inside the MCP task id is empty then.
  const named = session.state.type === 'not-delivered' ? undefined : session.view?.taskId;
  const taskId = encodeMcpTaskId({ sessionId: session.id, taskId: named ?? '', agent: session.agent.name });
  const task = toDetailedTask({
    taskId,
    agent: session.agent.name,
    sessionId: session.id,
    state: session.stateName,
    over: isSessionOver(session.state),
    view: session.view,
    problem: sessionProblem(session.state),
    createdAt: taskCreatedAt(call.bridge.sessions, session),
    changedAt: session.activity.changedAt,
    forms: [],
    needsDecisionElsewhere: false,
    onPage: false,
    notes: () => [],
    result: () => toCallToolResult(reply),
  });
  call.followed?.follows(session);
  // The first state is always `working`. The client gets forms from `tasks/get`, and answers with `tasks/update`.
  return { interim: { ...toCallToolResult(reply), ...task, status: 'working', resultType: 'task' } };
}
