/**
 * Converts a session's task to a `DetailedTask` of the MCP tasks extension (`io.modelcontextprotocol/tasks`,
 * 2026-07-28). Pure.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { notDoneText } from '../../../shared/protocol/not-done-text.ts';
import type { Form, UrlForm } from '../../approvals/form-field.ts';
import type { OfferedForm } from '../../approvals/forms-to-offer.ts';
import { phaseText } from '../reports/phase.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import { toClientSessionState } from '../../dialects/session-state-for-client.ts';
import { escapeHiddenCharacters, visibleLine } from '../../../shared/text/visible-text.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

interface DetailedTaskHead {
  taskId: string;
  statusMessage: string;
  /** The time of creation in RFC 3339. `lastUpdatedAt` has the same format. */
  createdAt: string;
  lastUpdatedAt: string;
  /** Null, because the agent decides how long it stores the task. */
  ttlMs: null;
  pollIntervalMs: number;
}

export type DetailedTask = DetailedTaskHead &
  (
    | { status: 'working' | 'cancelled' }
    | {
        status: 'input_required';
        inputRequests: Record<string, { method: 'elicitation/create'; params: Form | UrlForm }>;
      }
    | { status: 'completed'; result: CallToolResult & { resultType: 'complete' } }
  );

/**
 * The interval in milliseconds at which the client should poll. It is shorter while a form is open. R97: the client
 * must withdraw a form soon after the decision was made elsewhere.
 */
const POLL_MS = { moving: 1_000, formOpen: 500 };

const MAX_REASON_CHARACTERS = 1_000;

interface TaskReplyParts {
  taskId: string;
  agent: string;
  sessionId: string;
  state: SessionStateName;
  /** True if the task cannot change any more; see `isSessionOver`. */
  over: boolean;
  view: TaskView | undefined;
  problem: string | undefined;
  createdAt: Date;
  changedAt: Date;
  forms: readonly OfferedForm[];
  /** True if the task waits for a decision that this client's forms cannot show. The person then decides elsewhere. */
  needsDecisionElsewhere: boolean;
  /** True if the person has opened the page from a form, and decides there. */
  onPage: boolean;
  /** Returns what the person must know about answers in forms. Called only if the task was cancelled. */
  notes: () => readonly string[];
  /**
   * Builds the result of the tool call. Called only if the task has ended, or if it waits for a decision that no form
   * can show.
   */
  result: () => CallToolResult;
}

export function toDetailedTask(shown: TaskReplyParts): DetailedTask {
  const { state, over, forms, needsDecisionElsewhere, notes, result } = shown;
  const waits = toClientSessionState(state) === 'input_required';
  if (state === 'canceled') {
    const head = headOf(shown, POLL_MS.moving);
    // A cancelled MCP task has no result. So only this text can say why the task ended, and that an answer did not
    // count.
    const why = joinTexts(' ', [
      visibleLine(shown.view?.text ?? '', MAX_REASON_CHARACTERS),
      ...notes().map(escapeHiddenCharacters),
    ]);
    return {
      ...head,
      status: 'cancelled',
      statusMessage: why === '' ? head.statusMessage : `${head.statusMessage}. ${why}`,
    };
  }
  // "`failed` MUST NOT be used for non-JSON-RPC errors". So a failed task is `completed` here, and its result reports
  // the failure. If no form can show a decision, the result lists the pending actions and the ways to decide.
  if (over || (waits && needsDecisionElsewhere))
    return {
      ...headOf(shown, POLL_MS.moving),
      status: 'completed',
      // The result of the tool call, with its MCP result type.
      result: { resultType: 'complete', ...result() },
    };
  // If nothing is pending, the state `input-required` is out of date. An agent may report it directly after a decision.
  if (!waits || (forms.length === 0 && state === 'input-required'))
    return { ...headOf(shown, POLL_MS.moving), status: 'working' };
  return {
    ...headOf(shown, POLL_MS.formOpen),
    status: 'input_required',
    inputRequests: Object.fromEntries(
      forms.map(({ ask, params }) => [ask.key, { method: 'elicitation/create', params }]),
    ),
  };
}

function headOf(
  { taskId, agent, sessionId, state, view, problem, onPage, createdAt, changedAt }: TaskReplyParts,
  pollIntervalMs: number,
): DetailedTaskHead {
  const said =
    view?.state === 'auth-required' ? visibleLine(view.text, MAX_REASON_CHARACTERS) : phaseText(view, state);
  const missing = notDoneText(state, view?.calls ?? []);
  const where = onPage ? 'on the page that a form opened' : '';
  const words = problem ?? joinTexts(', ', [said, where, missing]);
  return {
    taskId,
    statusMessage: escapeHiddenCharacters(`Session ${sessionId} with ${agent}: ${words}`),
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: new Date(Math.max(createdAt.getTime(), changedAt.getTime())).toISOString(),
    ttlMs: null,
    pollIntervalMs,
  };
}
