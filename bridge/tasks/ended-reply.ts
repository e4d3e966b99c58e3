/** The result of a task that has ended, or that no form can go on with: what the tool call would have returned. Pure. */
import { personStep, type Speaker } from '../approvals/person-step.ts';
import { nextStep } from '../results/next-step.ts';
import type { SessionReport } from '../results/session-report.ts';
import { sessionText } from '../results/session-text.ts';
import { toolExecutions } from '../results/tool-executions.ts';
import type { Session } from '../sessions/session.ts';
import type { TaskView } from '../sessions/view.ts';
import { reportedNow } from '../tools/session-reply.ts';
import type { Reply } from '../tools/tool-result.ts';

export function endedReply(
  { id, agent, oneByOne }: Pick<Session, 'id' | 'agent' | 'oneByOne'>,
  { view, notes }: { view: TaskView | undefined; notes: readonly string[] },
  speaker: Speaker,
): Reply<SessionReport> {
  const standing = { id, view, trouble: undefined, settled: true, oneByOne };
  const structured = reportedNow(
    { id, agent, view },
    {
      notes,
      next: personStep({ id, view, oneByOne }, speaker) ?? nextStep(standing, 'settled', speaker.name),
      program: speaker.bridge.program,
    },
  );
  return { structured, text: sessionText(structured), executions: toolExecutions({ id, agent, view }) };
}
