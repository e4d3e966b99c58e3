/** Builds a tool's reply for one session. */
import { briefStep, nextStep } from '../reports/next-step.ts';
import { waysToDecide } from '../../approvals/ways-to-decide.ts';
import { humanOnlyGuidance } from '../reports/human-only-guidance.ts';
import { toolExecutions } from '../reports/tool-executions.ts';
import { agentOutput, reportOf, type SessionReport, shownTo } from '../reports/session-report.ts';
import {
  type Extent,
  hasNews,
  hadPreviewBefore,
  type PendingResult,
  resultOf,
  seenCharacters,
  seenOf,
  type SeenResult,
  type SessionResult,
} from '../reports/session-result.ts';
import { sessionText } from '../reports/session-text.ts';
import type { Session } from '../../sessions/session.ts';
import { problemMessage, type SessionState } from '../../sessions/session-state.ts';
import type { WaitEnd } from '../../sessions/wait-for-session.ts';
import type { Bridge } from '../bridge-context.ts';
import type { ToolCall } from './tool.ts';
import type { ResultError, ToolReply } from './tool-result.ts';

type ReplyContext = Pick<ToolCall, 'bridge' | 'news' | 'name' | 'signal' | 'onConfirmed' | 'seen' | 'whole'>;

interface SessionReplyOptions {
  end: WaitEnd;
  notes?: readonly string[];
  /** Replaces the usual next step. */
  next?: string | undefined;
  /** True if the call reports the outcome of delegated work. If the work failed, the call is then an error (B4). */
  outcome?: boolean;
  /**
   * True if the reply repeats content that the client already has. With `if-nothing-new`, only if nothing has changed.
   * So the client can read pending actions and ended tasks again (R95).
   */
  again?: 'never' | 'if-nothing-new' | 'always';
}

/**
 * Builds a reply with the session's current state. When the client has received the reply, the result counts as
 * collected.
 */
export function sessionReply(
  call: ReplyContext,
  session: Session,
  options: SessionReplyOptions,
): ToolReply<SessionResult> {
  const { outcome = false } = options;
  const { report, extent, seen } = told(call, session, {
    ...options,
    notes: [...call.news(), ...session.takeNotes(), ...(options.notes ?? [])],
  });
  const structured = resultOf(report, extent);
  rememberShown(call, report);
  call.onConfirmed(() => call.seen?.record(session.id, seen));
  // No client reads the reply to a cancelled call.
  if (!call.signal.aborted && session.over) call.onConfirmed(call.bridge.delegations.handOver(session));
  if (session.state.type === 'not-delivered') call.bridge.delegations.promise(session, call.signal);
  return {
    structured,
    text: sessionText(structured),
    executions: toolExecutions(session),
    ...(outcome && failureOf(report)),
  };
}

interface Told {
  report: SessionReport;
  extent: Extent;
  /** The content that the client has after this result. */
  seen: SeenResult;
}

function told(
  call: ReplyContext,
  session: Session,
  { end, notes, next, again = 'never' }: SessionReplyOptions & { notes: readonly string[] },
): Told {
  const { program } = call.bridge;
  const { view } = session;
  const output = view === undefined ? '' : agentOutput(view);
  const before = call.whole || again === 'always' ? undefined : call.seen?.of(session.id);
  const onlyPerson = humanOnlyGuidance(session, call);
  if (before !== undefined && before.taskId === view?.taskId) {
    const from = seenCharacters(before, output);
    const step = next ?? onlyPerson ?? briefStep(session, end, call.name);
    const brief = onlyPerson === undefined;
    const report = currentReport(session, { notes, next: step, program, from, brief, before });
    if (again === 'never' || hasNews(report, before)) {
      const repeats = report.pending.some((each) => hadPreviewBefore(each, before))
        ? 'shows the pending actions again, with their previews and codes'
        : 'repeats all';
      const delta = `Only what is new since the last result; ${call.name('wait_for_task')} with "whole": true ${repeats}.`;
      const extent = { type: 'since', seen: before, delta } as const;
      return { report, extent, seen: seenOf(report, output.slice(0, shownTo(output, from))) };
    }
  }
  const step = next ?? onlyPerson ?? nextStep(session, end, call.name);
  const report = currentReport(session, { notes, next: step, program });
  return {
    report,
    extent: { type: call.whole ? 'whole' : 'first' },
    seen: seenOf(report, output.slice(0, shownTo(output, 0))),
  };
}

/**
 * Records which previews the result cuts, before the client gets the result. A complete preview counts as shown only
 * when the client has the result (D5).
 * @param onConfirmed undefined if the result may not reach the model
 */
export function rememberShown(
  {
    bridge: { cutPreviews },
    onConfirmed,
  }: { bridge: Pick<Bridge, 'cutPreviews'>; onConfirmed?: ReplyContext['onConfirmed'] },
  {
    taskId,
    pending,
  }: { taskId?: string | null | undefined; pending: readonly Pick<PendingResult, 'shown' | 'cut'>[] },
): void {
  for (const { shown, cut = 0 } of pending) {
    if (shown === undefined) continue;
    if (cut > 0) cutPreviews.add(taskId ?? '', shown);
    else onConfirmed?.(() => cutPreviews.delete(taskId ?? '', shown));
  }
}

/** Returns the error of a call whose task failed, was rejected, was not delivered, or is unknown (B4). */
export function failureOf({
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
   * The content that the client already has. For an action shown before, the report contains no command line, because
   * that would contain the code (D2).
   */
  before?: SeenResult;
}

/** Builds the report of a session. Its next step ends with command lines that a person can copy. */
export function currentReport(
  session: Pick<Session, 'id' | 'agent' | 'view' | 'stateName'> & { state?: SessionState },
  { notes, next, program, from, brief, before }: ReportWords,
): SessionReport {
  const { id, agent, view, state, stateName } = session;
  const problem = state === undefined ? undefined : problemMessage(state);
  const report = reportOf({
    sessionId: id,
    agent: agent.name,
    state: stateName,
    view,
    problem,
    notes,
    next,
    ...(from !== undefined && { from }),
  });
  const pending = report.pending.filter((each) => before === undefined || !hadPreviewBefore(each, before));
  const waiting = { pending, question: report.pending.length > 0 ? null : report.question };
  const ways = waysToDecide(session, { waiting, program, ...(brief !== undefined && { brief }) });
  return { ...report, next: [next, ways].filter((each) => each !== '').join(' ') };
}
