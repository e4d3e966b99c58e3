/** Builds the reply of a tool that is about one session. */
import { nextStep } from '../reports/next-step.ts';
import { waysToDecide } from '../../approvals/ways-to-decide.ts';
import { humanOnlyGuidance } from '../reports/human-only-guidance.ts';
import { toolExecutions } from '../reports/tool-executions.ts';
import { reportOf, type SessionReport } from '../reports/session-report.ts';
import { sessionText } from '../reports/session-text.ts';
import type { Session } from '../../sessions/session.ts';
import { hasEnded } from '../../sessions/task-view.ts';
import type { WaitEnd } from '../../sessions/wait-for-session.ts';
import type { Bridge } from '../bridge-context.ts';
import type { ToolCall } from './tool.ts';
import type { ToolReply } from './tool-result.ts';

/** The parts of a call that a reply needs. */
export type ReplyContext = Pick<ToolCall, 'bridge' | 'news' | 'name' | 'signal' | 'onReceipt'>;

export interface SessionReplyOptions {
  end: WaitEnd;
  notes?: readonly string[];
  /** Replaces the usual next step. */
  next?: string | undefined;
}

/** The session's current state. A result counts as collected when the client has received the reply. */
export function sessionReply(
  call: ReplyContext,
  session: Session,
  options: SessionReplyOptions,
): ToolReply<SessionReport> {
  const { end, notes = [], next } = options;
  const { view } = session;
  const structured = currentReport(session, {
    notes: [...call.news(), ...session.takeNotes(), ...notes],
    next: next ?? humanOnlyGuidance(session, call) ?? nextStep(session, end, call.name),
    program: call.bridge.program,
  });
  rememberShown(call, structured);
  // No client reads the answer to a cancelled call.
  if (!call.signal.aborted && view !== undefined && hasEnded(view))
    call.onReceipt(call.bridge.delegations.handOver(session));
  return { structured, text: sessionText(structured), executions: toolExecutions(session) };
}

/**
 * Remembers which previews the result cuts, before the client has it. A preview that it shows whole counts once the client
 * has it (D5). @param onReceipt undefined for a result that may not reach the model
 */
export function rememberShown(
  {
    bridge: { cutPreviews },
    onReceipt,
  }: { bridge: Pick<Bridge, 'cutPreviews'>; onReceipt?: ReplyContext['onReceipt'] },
  { taskId, pending }: Pick<SessionReport, 'taskId' | 'pending'>,
): void {
  for (const { shown, cut } of pending) {
    if (cut > 0) cutPreviews.add(taskId ?? '', shown);
    else onReceipt?.(() => cutPreviews.delete(taskId ?? '', shown));
  }
}

/** The report of a session. Its next step ends with command lines that a person can copy. */
export function currentReport(
  session: Pick<Session, 'id' | 'agent' | 'view'>,
  { notes, next, program }: { notes: readonly string[]; next: string; program: string },
): SessionReport {
  const { id, agent, view } = session;
  const report = reportOf({ sessionId: id, agent: agent.name, view, notes, next });
  const ways = waysToDecide(session, { waiting: report, program });
  return { ...report, next: [next, ways].filter((each) => each !== '').join(' ') };
}
