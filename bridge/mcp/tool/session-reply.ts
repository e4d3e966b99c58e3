/** Builds the reply of a tool about one session. */
import { briefNextStepText, nextStepText } from '../reports/next-step.ts';
import { waysToDecideText } from '../../approvals/ways-to-decide.ts';
import { humanOnlyGuidance } from '../reports/human-only-guidance.ts';
import { toolExecutions } from '../reports/tool-executions.ts';
import {
  agentOutputText,
  buildSessionReport,
  type SessionReport,
  shownOutputEndIndex,
} from '../reports/session-report.ts';
import {
  type ReportExtent,
  hasNewContent,
  hadPreviewBefore,
  type PendingResult,
  sessionResultOf,
  seenOutputCharacters,
  seenResultOf,
  type SeenResult,
  type SessionResult,
} from '../reports/session-result.ts';
import { sessionText } from '../reports/session-text.ts';
import type { Session } from '../../sessions/session/session.ts';
import { sessionProblem, type SessionState } from '../../sessions/session/session-state.ts';
import type { WaitEndReason } from '../../sessions/wait-for-session.ts';
import type { BridgeContext } from '../bridge-context.ts';
import type { ToolCallContext } from './tool.ts';
import type { ResultError, ToolReply } from './tool-result.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

type ReplyContext = Pick<
  ToolCallContext,
  'bridge' | 'news' | 'name' | 'signal' | 'onConfirmed' | 'seen' | 'whole'
>;

interface SessionReplyOptions {
  end: WaitEndReason;
  notes?: readonly string[];
  /** The next step. If absent, the reply contains the usual next step. */
  next?: string | undefined;
  /**
   * True if the tool call reports the outcome of delegated work. B4: a failure is a result with `isError`. So if the
   * work has failed, the reply is such a result.
   */
  outcome?: boolean;
  /**
   * Whether the reply repeats what the client already has.
   * - `never`: the reply contains only what is new.
   * - `if-nothing-new`: like `never`, but if nothing is new, the reply repeats everything. R95: a client that waits for
   *   a pending action gets its preview, even a second time.
   * - `always`: the reply contains everything.
   */
  again?: 'never' | 'if-nothing-new' | 'always';
}

/**
 * Builds a reply with the current state of the session. The reply takes the session's notes. The function records which
 * actions have a cut preview in the reply. If the task is over, its result counts as collected when the client has
 * received the reply. If the message is not delivered, the function records that the reply says so.
 */
export function sessionReply(
  call: ReplyContext,
  session: Session,
  options: SessionReplyOptions,
): ToolReply<SessionResult> {
  const { outcome = false } = options;
  const { report, extent, seen } = reportOfCall(call, session, {
    ...options,
    notes: [...call.news(), ...session.takeNotes(), ...(options.notes ?? [])],
  });
  const structured = sessionResultOf(report, extent);
  recordIncompletePreviews(call, report);
  call.onConfirmed(() => call.seen?.record(session, seen));
  // No client reads the reply to a cancelled tool call. So the result does not count as collected.
  if (!call.signal.aborted && session.over) call.onConfirmed(call.bridge.delegations.handOver(session));
  if (session.state.type === 'not-delivered')
    call.bridge.delegations.recordUndeliveredReply(session, call.signal);
  return {
    structured,
    text: sessionText(structured),
    executions: toolExecutions(session),
    ...(outcome && taskFailureError(report)),
  };
}

interface ReportWithExtent {
  report: SessionReport;
  extent: ReportExtent;
  /** What the client has received, including this result. */
  seen: SeenResult;
}

function reportOfCall(
  call: ReplyContext,
  session: Session,
  { end, notes, next, again = 'never' }: SessionReplyOptions & { notes: readonly string[] },
): ReportWithExtent {
  const { program } = call.bridge;
  const { view } = session;
  const output = view === undefined ? '' : agentOutputText(view);
  const before = call.whole || again === 'always' ? undefined : call.seen?.of(session);
  const onlyPerson = humanOnlyGuidance(session, call);
  if (before !== undefined && before.taskId === view?.taskId) {
    const from = seenOutputCharacters(before, output);
    const step = next ?? onlyPerson ?? briefNextStepText(session, end, call.name);
    const brief = onlyPerson === undefined;
    const report = currentSessionReport(session, { notes, next: step, program, from, brief, before });
    if (again === 'never' || hasNewContent(report, before)) {
      const repeats = report.pending.some((each) => hadPreviewBefore(each, before))
        ? 'shows the pending actions again, with their previews and codes'
        : 'repeats all';
      const delta = `Only what is new since the last result; ${call.name('wait_for_task')} with "whole": true ${repeats}.`;
      const extent = { type: 'since', seen: before, delta } as const;
      return {
        report,
        extent,
        seen: seenResultOf(report, output.slice(0, shownOutputEndIndex(output, from))),
      };
    }
  }
  const step = next ?? onlyPerson ?? nextStepText(session, end, call.name);
  const report = currentSessionReport(session, { notes, next: step, program });
  return {
    report,
    extent: { type: call.whole ? 'whole' : 'first' },
    seen: seenResultOf(report, output.slice(0, shownOutputEndIndex(output, 0))),
  };
}

/**
 * Records which actions have an incomplete preview in this result. D5: a person can approve only what is shown in full.
 * So an incomplete preview is recorded at once. A complete preview deletes the record, but only after the client has
 * received the result.
 * @param onConfirmed undefined if the result might not reach the model; then no record is deleted
 */
export function recordIncompletePreviews(
  {
    bridge: { incompletePreviews },
    onConfirmed,
  }: { bridge: Pick<BridgeContext, 'incompletePreviews'>; onConfirmed?: ReplyContext['onConfirmed'] },
  {
    taskId,
    pending,
  }: { taskId?: string | null | undefined; pending: readonly Pick<PendingResult, 'shown' | 'cut'>[] },
): void {
  for (const { shown, cut = 0 } of pending) {
    if (shown === undefined) continue;
    if (cut > 0) incompletePreviews.add(taskId ?? '', shown);
    else onConfirmed?.(() => incompletePreviews.delete(taskId ?? '', shown));
  }
}

/**
 * Returns the error of a tool call whose task has failed, was rejected, was not delivered, or is unknown to the agent.
 * B4: such a failure is a result with `isError`.
 */
export function taskFailureError({
  state,
  sessionId,
}: Pick<SessionReport, 'state' | 'sessionId'>): Pick<ToolReply<SessionResult>, 'refusal'> {
  const reason = FAILURES[state];
  return reason === undefined ? {} : { refusal: { reason, facts: { sessionId, state } } };
}

const FAILURES: Readonly<Partial<Record<SessionReport['state'], ResultError['reason']>>> = {
  not_delivered: 'AGENT_UNREACHABLE',
  failed: 'TASK_FAILED',
  rejected: 'TASK_FAILED',
  unknown_to_agent: 'UNKNOWN_TASK',
};

interface ReportWords {
  notes: readonly string[];
  next: string;
  program: string;
  from?: number;
  brief?: boolean;
  /**
   * What the client already has. D2: a decision is valid only for what the person saw. A command line contains the code
   * of an action. So the report has a command line only for an action whose preview is new.
   */
  before?: SeenResult;
}

/** Builds the report of a session. Its next step ends with command lines that a person can copy. */
export function currentSessionReport(
  session: Pick<Session, 'id' | 'agent' | 'view' | 'stateName'> & { state?: SessionState },
  { notes, next, program, from, brief, before }: ReportWords,
): SessionReport {
  const { id, agent, view, state, stateName } = session;
  const problem = state === undefined ? undefined : sessionProblem(state);
  const report = buildSessionReport({
    sessionId: id,
    agent: agent.name,
    state: stateName,
    view,
    problem,
    notes,
    next,
    from,
  });
  const pending = report.pending.filter((each) => before === undefined || !hadPreviewBefore(each, before));
  const waiting = { pending, question: report.pending.length > 0 ? null : report.question };
  const ways = waysToDecideText(session, { waiting, program, brief });
  return { ...report, next: joinTexts(' ', [next, ways]) };
}
