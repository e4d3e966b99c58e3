/** Builds the reply of a tool for one session. */
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
import type { Refusal, ToolReply } from './tool-result.ts';

/** The parts of a call that a reply needs. */
type ReplyContext = Pick<ToolCall, 'bridge' | 'news' | 'name' | 'signal' | 'onReceipt' | 'seen' | 'whole'>;

interface SessionReplyOptions {
  end: WaitEnd;
  notes?: readonly string[];
  /** Replaces the usual next step. */
  next?: string | undefined;
  /**
   * True if the call reports the outcome of delegated work. If this work failed, the result of the call is an error
   * (B4).
   */
  outcome?: boolean;
  /**
   * Whether the reply repeats content that the client already has. `if-nothing-new`: only if there is no news. With
   * this value, the client can read pending actions and ended tasks again (R95).
   */
  again?: 'never' | 'if-nothing-new' | 'always';
}

/** Reports the session's current state. A result counts as collected when the client has received the reply. */
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
  call.onReceipt(() => call.seen?.record(session.id, seen));
  // No client reads the answer to a cancelled call.
  if (!call.signal.aborted && session.over) call.onReceipt(call.bridge.delegations.handOver(session));
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
  /** The content that the client has after it receives this result. */
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
 * Records which previews the result cuts, before the client gets the result. A whole preview counts as shown only when
 * the client has the result (D5).
 * @param onReceipt undefined if the result may not reach the model
 */
export function rememberShown(
  {
    bridge: { cutPreviews },
    onReceipt,
  }: { bridge: Pick<Bridge, 'cutPreviews'>; onReceipt?: ReplyContext['onReceipt'] },
  {
    taskId,
    pending,
  }: { taskId?: string | null | undefined; pending: readonly Pick<PendingResult, 'shown' | 'cut'>[] },
): void {
  for (const { shown, cut = 0 } of pending) {
    if (shown === undefined) continue;
    if (cut > 0) cutPreviews.add(taskId ?? '', shown);
    else onReceipt?.(() => cutPreviews.delete(taskId ?? '', shown));
  }
}

/**
 * A call is an error if its task has failed, was rejected, or was not delivered (B4). It is also an error if the agent
 * does not know the task.
 */
export function failureOf({
  state,
  sessionId,
}: Pick<SessionReport, 'state' | 'sessionId'>): Pick<ToolReply<SessionResult>, 'refusal'> {
  const reason = FAILURES[state];
  return reason === undefined ? {} : { refusal: { reason, facts: { sessionId, state } } };
}

const FAILURES: Readonly<Partial<Record<SessionReport['state'], Refusal['reason']>>> = {
  not_delivered: 'AGENT_UNREACHABLE',
  failed: 'TASK_FAILED',
  rejected: 'TASK_FAILED',
  unknown_to_agent: 'UNKNOWN_TASK',
};

interface ReportWords {
  notes: readonly string[];
  next: string;
  program: string;
  /** See `ReportContext`. */
  from?: number;
  /** See `WaysToDecide`. */
  brief?: boolean;
  /**
   * The content that the client already has. A command line contains the code of an action only if the report shows the
   * action's preview (D2).
   */
  before?: SeenResult;
}

/** The report of a session. Its next step ends with command lines that a person can copy. */
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
