/**
 * Decides what an append does, from the state before it. Pure. All implementations of the journal use it, so they give
 * the same answers.
 *
 * - J1: an append must name the task's last `seq`.
 * - E1: an append of an execution must name the epoch of the task's newest claim.
 * - J3: an append to an ended task is refused.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import { taskStateWord } from '../../shared/text/task-state-word.ts';
import type { JournalEntry } from '../task/events.ts';
import { TERMINAL_STATES, type StateName } from '../task/snapshot.ts';
import { buildTaskRow } from './build-task-row.ts';
import type { AppendResult, RecordedCommand, TaskRow } from './journal.ts';
import type { PreparedAppend } from './prepared-append.ts';

/** The state of a task before an append. It includes the earlier appends of the same commit. */
export interface TaskHead {
  seq: number;
  state: StateName;
  title: string;
  deadline: number | null;
  /** The epoch of the task's newest claim. Undefined if only one server can use the journal. */
  epoch?: number | undefined;
}

/** Reads the state before an append. This state includes the earlier appends of the same commit. */
export interface AppendStateReader<Head extends TaskHead> {
  command(principal: string, messageId: string): RecordedCommand | undefined;
  head(taskId: string): Head | undefined;
  /** Returns the id of the session's live task. */
  liveTask(principal: string, sessionId: string): string | undefined;
}

/** The outcome of one append of a commit. A refused append does not affect the others. */
export type AppendOutcome = { type: 'done'; result: AppendResult } | { type: 'refused'; error: Error };

type AppendJudgement<Head extends TaskHead> =
  | { type: 'create'; row: TaskRow; entries: JournalEntry[] }
  | { type: 'extend'; head: Head; entries: JournalEntry[]; title: string; deadline: number | null }
  /** The append writes nothing. Its caller gets this outcome. */
  | { type: 'outcome'; outcome: AppendOutcome };

/**
 * Returns what the append writes. If it writes nothing, returns the outcome for its caller.
 * @param at the time of the entries, in milliseconds since 1970
 */
export function judgeAppend<Head extends TaskHead>(
  append: PreparedAppend,
  before: AppendStateReader<Head>,
  at: number,
): AppendJudgement<Head> {
  const { taskId, command, expectedSeq } = append;
  const recorded = command && before.command(command.principal, command.messageId);
  if (recorded !== undefined) return doneOutcome({ type: 'repeated', command: recorded });
  const head = before.head(taskId);
  if (expectedSeq === 0) return head === undefined ? judgeCreation(append, before, at) : CONFLICT;
  if (head === undefined)
    return refusedOutcome(
      new ProductError('UNKNOWN_TASK', `There is no task ${taskId}. List the tasks to see those that exist.`),
    );
  if (append.epoch !== undefined && append.epoch !== head.epoch) return doneOutcome({ type: 'fenced' });
  if (head.seq !== expectedSeq) return CONFLICT;
  // The outcome is an error and not a conflict. After a conflict, the writer reads the new entries and tries again. An
  // ended task gets no new entries, so the writer would repeat this forever.
  if (TERMINAL_STATES.has(head.state))
    return refusedOutcome(
      new ProductError(
        'TASK_ENDED',
        `The task ${taskId} has ended (${taskStateWord(head.state)}). Nothing was appended.`,
      ),
    );
  if (append.moves === undefined && append.state !== head.state)
    return refusedOutcome(new RangeError(`the events leave the task ${head.state}, not ${append.state}`));
  return {
    type: 'extend',
    head,
    entries: entriesOf(append, at),
    title: head.title === '' ? append.title : head.title,
    deadline: append.deadline === undefined ? head.deadline : append.deadline,
  };
}

function judgeCreation<Head extends TaskHead>(
  append: PreparedAppend,
  before: AppendStateReader<Head>,
  at: number,
): AppendJudgement<Head> {
  const entries = entriesOf(append, at);
  const row = buildTaskRow(append.taskId, entries);
  if (row === undefined) throw new RangeError('a task begins with task.created');
  const live = before.liveTask(row.principal, row.sessionId);
  if (live !== undefined) return doneOutcome({ type: 'session-busy', taskId: live });
  return { type: 'create', row, entries };
}

const CONFLICT = doneOutcome({ type: 'conflict' });

function doneOutcome(result: AppendResult): { type: 'outcome'; outcome: AppendOutcome } {
  return { type: 'outcome', outcome: { type: 'done', result } };
}

function refusedOutcome(error: Error): { type: 'outcome'; outcome: AppendOutcome } {
  return { type: 'outcome', outcome: { type: 'refused', error } };
}

function entriesOf({ expectedSeq, events }: PreparedAppend, at: number): JournalEntry[] {
  return events.map((event, index) => ({ seq: expectedSeq + 1 + index, at, event }));
}
