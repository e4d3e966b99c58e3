/** What a task's primary does next: a pure function of the snapshot, so that any process can take it up anywhere. */
import { astrayQuestion, isUnfinished } from './astray.ts';
import type { TaskEvent } from './events.ts';
import { budgetQuestion, NO_BUDGET, type Budget } from './budget.ts';
import { pendingActions } from './pending.ts';
import {
  callsOf,
  isAgentsOwn,
  isReadOnly,
  isRepeatable,
  isSettled,
  isTerminal,
  lastTurn,
  waitingCalls,
  type Call,
  type Snapshot,
  type Turn,
} from './snapshot.ts';

export type NextStep =
  /** Parked or ended. */
  | { type: 'settled' }
  /** An execution before this one died in the middle: its loose ends come first. */
  | { type: 'recover'; events: TaskEvent[] }
  | { type: 'ask-model' }
  /** The model could not answer, and is not asked before this time, in milliseconds since the epoch. */
  | { type: 'wait'; until: number }
  /** One call with side effects, or adjacent read-only ones side by side. */
  | { type: 'run'; calls: Call[] }
  /** A state change that needs no work. */
  | { type: 'append'; events: TaskEvent[] };

/** @param limits what the task may spend, and the time now; without them, as much as it takes. */
export function nextStep(
  snapshot: Snapshot,
  { budget, now }: { budget: Budget; now: number } = { budget: NO_BUDGET, now: 0 },
): NextStep {
  if (isSettled(snapshot)) return { type: 'settled' };
  const loose = looseEnds(snapshot);
  if (loose.length > 0) return { type: 'recover', events: loose };
  if (waitingCalls(snapshot).length > 0)
    return { type: 'append', events: [{ type: 'input.required', pending: pendingActions(snapshot) }] };
  const turn = lastTurn(snapshot);
  const batch = nextBatch(callsOf(snapshot, turn));
  if (batch.length > 0) return { type: 'run', calls: batch };
  const end = snapshot.queued.length > 0 ? undefined : standstill(snapshot, turn);
  if (end !== undefined) return { type: 'append', events: [end] };
  const question = budgetQuestion(snapshot, budget, now);
  if (question !== undefined)
    return { type: 'append', events: [{ type: 'input.required', pending: [], question, budget: true }] };
  const { outage } = snapshot;
  return outage !== null && outage.until > now
    ? { type: 'wait', until: outage.until }
    : { type: 'ask-model' };
}

/** What a task comes to for which there is nothing new to be said to the model. */
function standstill(snapshot: Snapshot, turn: Turn | undefined): TaskEvent | undefined {
  const question = astrayQuestion(snapshot);
  if (question !== undefined) return { type: 'input.required', pending: [], question };
  const ended = turn !== undefined && turn.callIds.length === 0 && !isUnfinished(turn);
  return ended ? endOf(turn) : undefined;
}

/** What becomes of a task whose model asks for no call more. */
function endOf({ end }: Turn): TaskEvent {
  switch (end) {
    case 'content-filter':
      return {
        type: 'task.failed',
        message:
          "The model's provider withheld the rest of its answer (content filter). Put the task differently.",
      };
    case 'stop':
    case 'tool-calls':
    case 'length':
    case 'empty':
    case null:
      return { type: 'task.completed' };
  }
  switch (end.type) {
    case 'completed':
      return { type: 'task.completed', message: end.message };
    case 'failed':
      return { type: 'task.failed', message: end.message };
    case 'rejected':
      return { type: 'task.rejected', message: end.message };
    case 'input-required':
      return {
        type: 'input.required',
        pending: [],
        ...(end.question !== null && { question: end.question }),
      };
    case 'auth-required':
      return { type: 'auth.required', question: end.question };
  }
}

/**
 * What a process appends to a task that was at work when the last one ended, before anything else: what that left open, or
 * that the task is at work anew. Either way the time in between is none of the task's (see fold.ts).
 */
export function takingUp(snapshot: Snapshot): TaskEvent[] {
  if (snapshot.status.state !== 'working') return [];
  const loose = looseEnds(snapshot);
  return loose.length > 0 ? loose : [{ type: 'task.working' }];
}

/** What a turn of the model begins with. The first one sets the task in motion. */
export function turnOpening(snapshot: Snapshot, model: string): TaskEvent[] {
  const started: TaskEvent = { type: 'turn.started', turn: snapshot.turns + 1, model };
  return snapshot.status.state === 'submitted' ? [{ type: 'task.working' }, started] : [started];
}

/**
 * What a dead execution left open (E2): a turn that was cut off is void; a repeatable call just runs again; a call with
 * side effects that may have happened waits for a person.
 */
function looseEnds(snapshot: Snapshot): TaskEvent[] {
  if (isTerminal(snapshot)) return [];
  const events: TaskEvent[] = [];
  if (snapshot.openTurn !== null)
    events.push({
      type: 'turn.abandoned',
      turn: snapshot.openTurn.turn,
      reason: 'The server stopped in the middle of the turn; the model is asked again.',
    });
  for (const call of Object.values(snapshot.calls))
    if (call.state.type === 'running')
      events.push({
        type: 'tool.interrupted',
        callId: call.callId,
        tool: call.tool,
        title: call.title,
        toolId: call.state.toolId,
        rerun: isRepeatable(call),
      });
  return events;
}

/**
 * The first unsettled call, with the read-only ones right after it when it is read-only itself. An agent of its own may
 * wait for the answer to all it has asked before it does any of it: its calls are let go together.
 */
function nextBatch(calls: readonly Call[]): Call[] {
  const open = calls.filter((call) => call.state.type !== 'settled');
  const [first] = open;
  if (first?.state.type !== 'ready') return [];
  const together = isAgentsOwn(first) ? isAgentsOwn : isReadOnly(first) ? isReadOnly : undefined;
  if (together === undefined) return [first];
  const end = open.findIndex((call) => call.state.type !== 'ready' || !together(call));
  return end === -1 ? open : open.slice(0, end);
}
