/**
 * Defines what a rule decides from the snapshot of a task: events to append, or a refusal. E3: a refused command changes
 * nothing.
 */
import type { ErrorFacts, ErrorReason } from '../../shared/runtime/errors.ts';
import { taskStateWord } from '../../shared/text/task-state-word.ts';
import type { TaskEvent } from './events.ts';
import type { Snapshot } from './snapshot.ts';

export interface CommandRefusal {
  type: 'refuse';
  reason: ErrorReason;
  message: string;
  facts?: ErrorFacts;
}

/** The events to append, or a refusal. Without events, nothing changes. */
export type CommandOutcome = readonly TaskEvent[] | CommandRefusal;

export type TaskRule = (snapshot: Snapshot) => CommandOutcome;

export function isRefusal(outcome: CommandOutcome): outcome is CommandRefusal {
  return 'type' in outcome;
}

/** Returns the refusal of a command after the end of the task. J3: nothing follows the end of a task. */
export function taskEndedRefusal(snapshot: Snapshot): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'TASK_ENDED',
    message: `Task ${snapshot.taskId} has ended (${taskStateWord(snapshot.status.state)}); nothing was changed. To start the session's next task, send a message with the session id alone.`,
    facts: { state: snapshot.status.state },
  };
}

export function invalidDecisionRefusal(message: string): CommandRefusal {
  return { type: 'refuse', reason: 'INVALID_DECISION', message };
}
