/**
 * Calls that one client has withdrawn, until it has been told what became of them: a withdrawn call gets no answer (MCP,
 * cancellation), so the client's next call says it. In memory: whoever comes back to a new bridge lists the sessions.
 */
import { nextStep } from '../reports/next-step.ts';
import { hasEnded } from '../../sessions/task-view.ts';
import type { Session } from '../../sessions/session.ts';
import type { ToolName } from '../../tool-names/tool-name.ts';
import { type Cause, causeWords } from './cause.ts';

/** What became of the task that a withdrawn call had begun, or was waiting for. */
export type TaskOutcome =
  /** The call had not sent anything yet, and did not. */
  | { type: 'unsent' }
  | { type: 'goes-on' }
  | { type: 'cancelling' }
  | { type: 'cancelled' }
  /** The message is still on its way: it is cancelled as soon as the agent has named its task. */
  | { type: 'cancelled-when-known' }
  | { type: 'ended-before' }
  /** The message came to nothing: there is no task. */
  | { type: 'refused'; message: string }
  | { type: 'not-cancelled'; message: string };

export interface CancelledCall {
  tool: ToolName;
  cause: Cause;
  /** Absent where nothing had been sent. */
  session?: Session;
  fate: TaskOutcome;
}

/** Older ones are dropped: a client that withdraws so many calls does not read what became of them. */
const KEPT = 20;

export class CancelledCalls {
  #untold: CancelledCall[] = [];

  add(call: CancelledCall): void {
    this.#untold = [...this.#untold, call].slice(-KEPT);
  }

  /** A sentence for each call the client has not been told of yet, oldest first. They count as told from here on. */
  take(name: (tool: ToolName) => string): readonly string[] {
    const told = this.#untold;
    this.#untold = [];
    return told.map((call) => sentenceOf(call, name));
  }
}

/** Pure. */
export function sentenceOf(
  { tool, cause, session, fate }: CancelledCall,
  name: (tool: ToolName) => string,
): string {
  const before = `An earlier call of ${name(tool)} was not answered: ${causeWords(cause)}.`;
  return `${before} ${outcomeText(fate)}${session === undefined ? '' : wayBack(session, fate, name)}`;
}

/** What became of it, as a sentence. Pure. */
export function outcomeText(fate: TaskOutcome): string {
  switch (fate.type) {
    case 'unsent':
      return 'Nothing had been sent yet, and nothing was.';
    case 'goes-on':
      return 'Its task was not touched.';
    case 'cancelling':
      return 'Its task is being cancelled.';
    case 'cancelled':
      return 'Its task was cancelled.';
    case 'cancelled-when-known':
      return 'Its message was on its way: the task is cancelled as soon as the agent has named it.';
    case 'ended-before':
      return 'Its task had ended by then.';
    case 'refused':
      return `Its message came to nothing: ${fate.message}`;
    case 'not-cancelled':
      return `Its task could not be cancelled: ${fate.message}`;
  }
}

function wayBack(session: Session, fate: TaskOutcome, name: (tool: ToolName) => string): string {
  const { id, view } = session;
  if (fate.type === 'refused') return '';
  const ended = view !== undefined && hasEnded(view);
  return ended
    ? ` Session "${id}": ${name('wait_for_task')} has its result.`
    : ` Session "${id}": ${nextStep(session, 'time', name)}`;
}
