/**
 * Decides the next step of a task's execution. Pure. The decision depends only on the snapshot, so any process can
 * continue the task.
 */
import { stuckQuestion, isTurnUnfinished } from './stuck-detection.ts';
import type { TaskEvent } from './events.ts';
import { budgetQuestion, NO_BUDGET, type Budget } from './budget.ts';
import { nextAttemptTime } from './model-outage.ts';
import { pendingActions } from './pending.ts';
import {
  callsOfTurn,
  isRunByAcpAgent,
  isReadOnlyCall,
  isRepeatableCall,
  isTaskSettled,
  runningCalls,
  runningExecution,
  trailingTurn,
  waitingCalls,
  type Call,
  type Snapshot,
  type Turn,
} from './snapshot.ts';

type NextStep =
  | { type: 'settled' }
  /**
   * An earlier execution ended with unfinished work. `events` record this, and must be appended before any other step.
   */
  | { type: 'recover'; events: TaskEvent[] }
  | { type: 'ask-model' }
  /** The model failed. `until` is the time of the next model call, in milliseconds since 1970. */
  | { type: 'wait'; until: number }
  /** One tool call, or several calls that run in parallel (see `nextBatch`). */
  | { type: 'run'; calls: Call[] }
  /** After `events`, the task waits for a person or has ended. */
  | { type: 'append'; events: TaskEvent[] };

/** Returns the next step. Without `budget` and `now`, the task has no budget. `now` is in milliseconds since 1970. */
export function nextStep(
  snapshot: Snapshot,
  { budget, now }: { budget: Budget; now: number } = { budget: NO_BUDGET, now: 0 },
): NextStep {
  if (isTaskSettled(snapshot)) return { type: 'settled' };
  const loose = unfinishedWorkEvents(snapshot);
  if (loose.length > 0) return { type: 'recover', events: loose };
  if (waitingCalls(snapshot).length > 0)
    return { type: 'append', events: [{ type: 'input.required', pending: pendingActions(snapshot) }] };
  const turn = trailingTurn(snapshot);
  const batch = nextBatch(callsOfTurn(snapshot, turn));
  if (batch.length > 0) return { type: 'run', calls: batch };
  const end = snapshot.queued.length > 0 ? undefined : endOrStuckQuestion(snapshot, turn);
  if (end !== undefined) return { type: 'append', events: [end] };
  const question = budgetQuestion(snapshot, budget, now);
  if (question !== undefined)
    return { type: 'append', events: [{ type: 'input.required', pending: [], question, budget: true }] };
  const until = nextAttemptTime(snapshot, now);
  return until === undefined ? { type: 'ask-model' } : { type: 'wait', until };
}

/**
 * Returns the event for a task that has no new message for the model: a question to the person about a stuck model, or
 * the end of the task. Returns undefined if the model must be asked again.
 */
function endOrStuckQuestion(snapshot: Snapshot, turn: Turn | undefined): TaskEvent | undefined {
  const question = stuckQuestion(snapshot);
  if (question !== undefined) return { type: 'input.required', pending: [], question };
  const ended =
    turn !== undefined && turn.callIds.length === 0 && turn.reminder === undefined && !isTurnUnfinished(turn);
  return ended ? endOf(turn) : undefined;
}

/** Returns the event that follows a turn without tool calls. It ends the task, or makes the task wait for a reply. */
function endOf({ end }: Turn): TaskEvent {
  switch (end) {
    case 'content-filter':
      return {
        type: 'task.failed',
        message: "The model's provider withheld the rest of its answer (content filter). Rephrase the task.",
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
 * Returns the first events after a restart of the server. They record the old process's unfinished work, or that the
 * task works again. The time without a server does not count as working time (budget.ts).
 */
export function restartEvents(snapshot: Snapshot): TaskEvent[] {
  if (snapshot.status.state !== 'working') return [];
  const loose = unfinishedWorkEvents(snapshot);
  return loose.length > 0 ? loose : [{ type: 'task.working' }];
}

/** Returns the first events of a turn. The first turn also sets the task to working. */
export function turnStartEvents(snapshot: Snapshot, model: string): TaskEvent[] {
  const started: TaskEvent = { type: 'turn.started', turn: snapshot.turns + 1, model };
  return snapshot.status.state === 'submitted' ? [{ type: 'task.working' }, started] : [started];
}

/**
 * Returns the events for the unfinished work of a dead execution (E2: a tool call with side effects runs at most once).
 * The output of an unfinished turn is ignored. A repeatable call runs again. Any other call waits for a person, because
 * it may have run.
 */
function unfinishedWorkEvents(snapshot: Snapshot): TaskEvent[] {
  const events: TaskEvent[] = [];
  if (snapshot.openTurn !== null)
    events.push({
      type: 'turn.abandoned',
      turn: snapshot.openTurn.turn,
      reason: 'The server stopped during the turn. It asks the model again.',
    });
  for (const call of runningCalls(snapshot))
    events.push({ type: 'tool.interrupted', ...runningExecution(call), rerun: isRepeatableCall(call) });
  return events;
}

/**
 * Returns the next tool calls to run. A read-only call runs together with the read-only calls directly after it. All
 * calls of an ACP agent run together, because the agent may wait until it has all their answers. Any other call runs
 * alone.
 */
function nextBatch(calls: readonly Call[]): Call[] {
  const open = calls.filter((call) => call.state.type !== 'settled');
  const [first] = open;
  if (first?.state.type !== 'ready') return [];
  const together = isRunByAcpAgent(first)
    ? isRunByAcpAgent
    : isReadOnlyCall(first)
      ? isReadOnlyCall
      : undefined;
  if (together === undefined) return [first];
  const end = open.findIndex((call) => call.state.type !== 'ready' || !together(call));
  return end === -1 ? open : open.slice(0, end);
}
