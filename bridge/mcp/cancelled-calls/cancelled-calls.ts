/**
 * Stores the cancelled tool calls of one client until the bridge has reported what happened to their tasks. A cancelled
 * tool call gets no response (MCP, cancellation), so the bridge reports this in the reply to the client's next tool
 * call. The list is in memory. After a restart of the bridge, the client can list the sessions instead.
 */
import { nextStepText } from '../reports/next-step.ts';
import type { CancelOutcome } from '../../sessions/cancel-task.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { ToolName, NameOfTool } from '../../tool-names/tool-names.ts';
import { type CancelCause, cancelCauseText } from './cancel-cause.ts';

/** What happened to the task of a cancelled tool call. */
export type CancelledTaskOutcome =
  /** `unsent`: the client cancelled the tool call before the bridge had sent the message. */
  | { type: 'unsent' | 'goes-on' | CancelOutcome }
  /** `refused`: the agent refused the message, so there is no task. */
  | { type: 'refused' | 'not-cancelled'; message: string };

export interface CancelledMcpCall {
  tool: ToolName;
  cause: CancelCause;
  /** The session of the tool call. Absent if the tool call had sent nothing. */
  session?: Session;
  outcome: CancelledTaskOutcome;
}

/** The maximum number of stored tool calls. A client that cancels more of them ignores the reports anyway. */
const MAX_UNREPORTED_CALLS = 20;

export class CancelledMcpCalls {
  #unreported: CancelledMcpCall[] = [];

  add(call: CancelledMcpCall): void {
    this.#unreported = [...this.#unreported, call].slice(-MAX_UNREPORTED_CALLS);
  }

  /**
   * Returns one sentence for each stored tool call, oldest first. Removes these calls, so that each is reported once.
   */
  take(name: NameOfTool): readonly string[] {
    const reported = this.#unreported;
    this.#unreported = [];
    return reported.map((call) => cancelledCallText(call, name));
  }
}

function cancelledCallText({ tool, cause, session, outcome }: CancelledMcpCall, name: NameOfTool): string {
  const before = `An earlier call of ${name(tool)} was not answered: ${cancelCauseText(cause)}.`;
  return `${before} ${cancelledTaskOutcomeText(outcome)}${session === undefined ? '' : nextStepInSession(session, outcome, name)}`;
}

const OUTCOME_TEXTS: Readonly<Record<CancelledTaskOutcome['type'], string>> = {
  unsent: 'Nothing was sent.',
  'goes-on': 'Its task was not touched.',
  cancelling: 'Its task is being cancelled.',
  cancelled: 'Its task was cancelled.',
  'cancelled-when-known':
    'The agent has not confirmed its message yet. The bridge cancels the task when the agent confirms it.',
  withdrawn: 'Its message was withdrawn before the agent had it: nothing of it has run.',
  'may-have-arrived':
    'Whether the agent has its message is not known. Look at the agent before you repeat it.',
  'unknown-to-agent': 'The agent does not know its task any more.',
  'ended-before': 'Its task had already ended.',
  refused: 'Its message was refused',
  'not-cancelled': 'Its task could not be cancelled',
};

export function cancelledTaskOutcomeText(outcome: CancelledTaskOutcome): string {
  const text = OUTCOME_TEXTS[outcome.type];
  return 'message' in outcome ? `${text}: ${outcome.message}` : text;
}

function nextStepInSession(session: Session, outcome: CancelledTaskOutcome, name: NameOfTool): string {
  const { id, view } = session;
  if (outcome.type === 'refused' || outcome.type === 'withdrawn') return '';
  const ended = view !== undefined && hasEnded(view);
  return ended
    ? ` Session "${id}": ${name('wait_for_task')} has its result.`
    : ` Session "${id}": ${nextStepText(session, 'time', name)}`;
}
