/**
 * Builds the result of a tool call whose task has ended, or whose task waits for a decision that no form can show.
 * Pure.
 */
import { humanOnlyGuidance, type GuidanceContext } from '../reports/human-only-guidance.ts';
import { nextStepText } from '../reports/next-step.ts';
import { sessionResultOf, type SessionResult } from '../reports/session-result.ts';
import { sessionText } from '../reports/session-text.ts';
import { toolExecutions } from '../reports/tool-executions.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import { taskFailureError, currentSessionReport } from '../tool/session-reply.ts';
import type { ToolReply } from '../tool/tool-result.ts';

export function endedTaskReply(
  session: Session,
  { view, current, notes }: { view: TaskView | undefined; current: boolean; notes: readonly string[] },
  speaker: GuidanceContext,
): ToolReply<SessionResult> {
  const { id, agent, asksOneByOne, givenUp } = session;
  const stateName = current ? session.stateName : (view?.state ?? 'unknown');
  const standing = {
    id,
    view,
    stateName,
    streamProblem: undefined,
    settled: true,
    asksOneByOne,
    givenUp,
  };
  const report = currentSessionReport(
    { id, agent, view, stateName, ...(current && { state: session.state }) },
    {
      notes,
      next:
        humanOnlyGuidance({ id, view, asksOneByOne }, speaker) ??
        nextStepText(standing, 'settled', speaker.name),
      program: speaker.bridge.program,
    },
  );
  const structured = sessionResultOf(report, { type: 'first' });
  return {
    structured,
    text: sessionText(structured),
    executions: toolExecutions({ id, agent, view }),
    ...taskFailureError(structured),
  };
}
