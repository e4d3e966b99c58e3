/** Builds the result of a task that has ended, or that no form can continue: the tool call's result. Pure. */
import { humanOnlyGuidance, type GuidanceContext } from '../reports/human-only-guidance.ts';
import { nextStep } from '../reports/next-step.ts';
import type { SessionReport } from '../reports/session-report.ts';
import { sessionText } from '../reports/session-text.ts';
import { toolExecutions } from '../reports/tool-executions.ts';
import type { Session } from '../../sessions/session.ts';
import type { TaskView } from '../../sessions/task-view.ts';
import { currentReport } from '../tool/session-reply.ts';
import type { ToolReply } from '../tool/tool-result.ts';

export function endedReply(
  { id, agent, oneByOne }: Pick<Session, 'id' | 'agent' | 'oneByOne'>,
  { view, notes }: { view: TaskView | undefined; notes: readonly string[] },
  speaker: GuidanceContext,
): ToolReply<SessionReport> {
  const standing = { id, view, trouble: undefined, settled: true, oneByOne };
  const structured = currentReport(
    { id, agent, view },
    {
      notes,
      next: humanOnlyGuidance({ id, view, oneByOne }, speaker) ?? nextStep(standing, 'settled', speaker.name),
      program: speaker.bridge.program,
    },
  );
  return { structured, text: sessionText(structured), executions: toolExecutions({ id, agent, view }) };
}
