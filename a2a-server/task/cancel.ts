/** Ends a task before its work is done, after a cancel or a timeout. Pure. */
import type { StopReason } from '../../shared/protocol/tool-approval.ts';
import type { Decider, TaskEvent, ToolOutcome } from './events.ts';
import { taskEndedRefusal, type CommandOutcome } from './command-outcome.ts';
import { isTaskSettled, isTerminal, runningCalls, runningExecution, type Snapshot } from './snapshot.ts';

/**
 * Cancels a task that has not ended, even if it waits or has not begun (A4). A1: its running tool executions are
 * recorded as stopped by the cancel.
 */
export function cancelTask(snapshot: Snapshot, reason: string, by: Decider): CommandOutcome {
  if (isTerminal(snapshot)) return taskEndedRefusal(snapshot);
  const stopped = stoppedCalls(snapshot, {
    reason: 'task-cancel',
    message: `Stopped because the task was cancelled: ${reason}`,
  });
  return [...stopped, { type: 'task.canceled', reason, by }];
}

/** Reports that the sender of a message no longer reads the task. */
export interface ReaderDisconnect {
  /**
   * The task's `seq` when the server accepted the message. A newer message means that a client reads the task again.
   */
  messageSeq: number;
  reason: string;
}

/** Cancels a working task. A task that waits for a person, has ended, or has a newer message stays unchanged. */
export function cancelAfterDisconnect(
  snapshot: Snapshot,
  { messageSeq, reason }: ReaderDisconnect,
  by: Decider,
): CommandOutcome {
  return isTaskSettled(snapshot) || snapshot.messageSeq > messageSeq ? [] : cancelTask(snapshot, reason, by);
}

/** Ends a task that exceeded its time limit. A1: its tool executions are recorded as stopped by the timeout. */
export function failTaskAfterTimeout(snapshot: Snapshot, message: string): CommandOutcome {
  if (isTerminal(snapshot)) return taskEndedRefusal(snapshot);
  const stopped = stoppedCalls(snapshot, { reason: 'timeout', message });
  return [...stopped, { type: 'task.failed', message }];
}

/** Returns the events for tool executions that still run when their task ends. */
function stoppedCalls(snapshot: Snapshot, stop: { reason: StopReason; message: string }): TaskEvent[] {
  const outcome: ToolOutcome = { type: 'stopped', ...stop, confirmed: false, text: '' };
  return runningCalls(snapshot).map((call) => ({
    type: 'tool.finished',
    ...runningExecution(call),
    outcome,
  }));
}
