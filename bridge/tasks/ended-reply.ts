/** The result of a task that has ended: what the tool call would have returned. Pure. */
import { nextStep } from '../results/next-step.ts';
import { reportOf, type SessionReport } from '../results/session-report.ts';
import { sessionText } from '../results/session-text.ts';
import { toolExecutions } from '../results/tool-executions.ts';
import type { Session } from '../sessions/session.ts';
import type { TaskView } from '../sessions/view.ts';
import type { ToolName } from '../tools/tool-name.ts';
import type { Reply } from '../tools/tool-result.ts';

/** @param name a tool's name as this client sees it */
export function endedReply(
  { id, agent }: Pick<Session, 'id' | 'agent'>,
  view: TaskView | undefined,
  name: (tool: ToolName) => string,
): Reply<SessionReport> {
  const standing = { id, view, trouble: undefined, settled: true };
  const structured = reportOf({
    sessionId: id,
    agent: agent.name,
    view,
    notes: [],
    next: nextStep(standing, 'settled', name),
  });
  return { structured, text: sessionText(structured), executions: toolExecutions({ id, agent, view }) };
}
