/** Builds the reply of a tool that is about one session. */
import { nextStep } from '../reports/next-step.ts';
import { waysToDecide } from '../../approvals/ways-to-decide.ts';
import { humanOnlyGuidance } from '../reports/human-only-guidance.ts';
import { toolExecutions } from '../reports/tool-executions.ts';
import { reportOf, type SessionReport } from '../reports/session-report.ts';
import { sessionText } from '../reports/session-text.ts';
import type { Session } from '../../sessions/session.ts';
import { problemOf, type SessionState } from '../../sessions/session-state.ts';
import type { WaitEnd } from '../../sessions/wait-for-session.ts';
import type { Bridge } from '../bridge-context.ts';
import type { ToolCall } from './tool.ts';
import type { Refusal, ToolReply } from './tool-result.ts';

/** The parts of a call that a reply needs. */
type ReplyContext = Pick<ToolCall, 'bridge' | 'news' | 'name' | 'signal' | 'onReceipt'>;

interface SessionReplyOptions {
  end: WaitEnd;
  notes?: readonly string[];
  /** Replaces the usual next step. */
  next?: string | undefined;
  /** The call is about the outcome of delegated work: a failed outcome is an error of the call (B4). */
  outcome?: boolean;
}

/** The session's current state. A result counts as collected when the client has received the reply. */
export function sessionReply(
  call: ReplyContext,
  session: Session,
  options: SessionReplyOptions,
): ToolReply<SessionReport> {
  const { end, notes = [], next, outcome = false } = options;
  const structured = currentReport(session, {
    notes: [...call.news(), ...session.takeNotes(), ...notes],
    next: next ?? humanOnlyGuidance(session, call) ?? nextStep(session, end, call.name),
    program: call.bridge.program,
  });
  rememberShown(call, structured);
  // No client reads the answer to a cancelled call.
  if (!call.signal.aborted && session.over) call.onReceipt(call.bridge.delegations.handOver(session));
  if (session.state.type === 'not-delivered') call.bridge.delegations.promise(session, call.signal);
  return {
    structured,
    text: sessionText(structured),
    executions: toolExecutions(session),
    ...(outcome && failureOf(structured)),
  };
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

/** A call is an error if its task has failed, was rejected or not delivered, or is unknown to the agent (B4). */
export function failureOf({ state, sessionId }: SessionReport): Pick<ToolReply<SessionReport>, 'refusal'> {
  const reason = FAILURES[state];
  return reason === undefined ? {} : { refusal: { reason, facts: { sessionId, state } } };
}

const FAILURES: Readonly<Partial<Record<SessionReport['state'], Refusal['reason']>>> = {
  not_delivered: 'AGENT_UNREACHABLE',
  failed: 'TASK_FAILED',
  rejected: 'TASK_FAILED',
  unknown_to_agent: 'UNKNOWN_TASK',
};

/** The report of a session. Its next step ends with command lines that a person can copy. */
export function currentReport(
  session: Pick<Session, 'id' | 'agent' | 'view' | 'stateName'> & { state?: SessionState },
  { notes, next, program }: { notes: readonly string[]; next: string; program: string },
): SessionReport {
  const { id, agent, view, state, stateName } = session;
  const problem = state === undefined ? undefined : problemOf(state);
  const report = reportOf({
    sessionId: id,
    agent: agent.name,
    state: stateName,
    view,
    problem,
    notes,
    next,
  });
  const ways = waysToDecide(session, { waiting: report, program });
  return { ...report, next: [next, ways].filter((each) => each !== '').join(' ') };
}
