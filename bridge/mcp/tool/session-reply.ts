/** The reply of a tool that is about one session. */
import { nextStep } from '../reports/next-step.ts';
import { waysToDecide } from '../../approvals/ways-to-decide.ts';
import { humanOnlyGuidance } from '../reports/human-only-guidance.ts';
import { toolExecutions } from '../reports/tool-executions.ts';
import { reportOf, type SessionReport } from '../reports/session-report.ts';
import { sessionText } from '../reports/session-text.ts';
import type { Session } from '../../sessions/session.ts';
import { hasEnded } from '../../sessions/task-view.ts';
import type { WaitEnd } from '../../sessions/wait-for-session.ts';
import type { ToolCall } from './tool.ts';
import type { Reply } from './tool-result.ts';

/** What a reply needs of the call it answers. */
export type Answering = Pick<ToolCall, 'bridge' | 'news' | 'name' | 'signal' | 'onReceipt'>;

export interface SessionReplyOptions {
  end: WaitEnd;
  notes?: readonly string[];
  /** In place of the usual next step. */
  next?: string | undefined;
}

/** The session as it stands. A result in the reply is collected when the client has the reply. */
export function sessionReply(
  call: Answering,
  session: Session,
  options: SessionReplyOptions,
): Reply<SessionReport> {
  const { end, notes = [], next } = options;
  const { view } = session;
  const structured = reportedNow(session, {
    notes: [...call.news(), ...session.takeNotes(), ...notes],
    next: next ?? humanOnlyGuidance(session, call) ?? nextStep(session, end, call.name),
    program: call.bridge.program,
  });
  // No client reads the answer to a withdrawn call.
  if (!call.signal.aborted && view !== undefined && hasEnded(view))
    call.onReceipt(call.bridge.delegations.handOver(session));
  return { structured, text: sessionText(structured), executions: toolExecutions(session) };
}

/** The report of a session, whose next step ends with the lines that a person can copy. */
export function reportedNow(
  session: Pick<Session, 'id' | 'agent' | 'view'>,
  { notes, next, program }: { notes: readonly string[]; next: string; program: string },
): SessionReport {
  const { id, agent, view } = session;
  const report = reportOf({ sessionId: id, agent: agent.name, view, notes, next });
  const ways = waysToDecide(session, { waiting: report, program });
  return { ...report, next: [next, ways].filter((each) => each !== '').join(' ') };
}
