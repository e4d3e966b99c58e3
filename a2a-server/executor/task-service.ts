/**
 * The interface of the task service: all commands and queries on tasks, for all transports. Several processes may serve
 * one journal.
 */
import type { AbortAnswer } from '../../shared/protocol/abort-answer.ts';
import type { CostReport } from '../../shared/protocol/cost-report.ts';
import type { DecisionsPart, RevokePart, TaskSettings } from '../../shared/protocol/tool-approval.ts';
import type { FileBytes, TaskFilter, TaskPage, TaskRow } from '../journal/journal.ts';
import type { CostSum } from '../task/cost-sum.ts';
import type { JournalEntry, UserMessage } from '../task/events.ts';
import type { ReaderDisconnect } from '../task/cancel.ts';
import type { Snapshot } from '../task/snapshot.ts';
import type { StoredFile } from '../task/stored-file.ts';

/** A message from a client, as the transport parsed it. */
export interface Incoming {
  principal: string;
  channel: string;
  message: UserMessage;
  /** The contents of the message's files. */
  contents?: readonly FileBytes[];
  /** SHA-256 (hex) of the canonical message, for de-duplication (R27). */
  bodyHash: string;
  /** The task to continue. */
  taskId?: string;
  /** The session to continue: its live task or, without one, a new task. */
  sessionId?: string;
  settings: TaskSettings;
  /**
   * True if the exact words `approve` and `deny` decide. A client without the approval extension has no other way to
   * decide. From other clients they are plain text.
   */
  wordsDecide: boolean;
  /** Present when the message is a decision. The model does not get its text. */
  decisions?: DecisionsPart;
  /** Present when the message revokes a grant. The model does not get its text. */
  revoke?: RevokePart['revoke'];
}

/** True if the message decides calls or revokes a grant. Such a message starts no task. */
export function decides({ decisions, revoke }: Incoming): boolean {
  return decisions !== undefined || revoke !== undefined;
}

/** The position of an accepted command. */
export interface Accepted {
  taskId: string;
  sessionId: string;
  /**
   * `seq` of the command's last event; for a repeated message, the journal's end. The stream shows the task at this
   * `seq`, and all later events. If a decision leaves other actions pending, the task is parked at this `seq`. Then the
   * stream ends at once (R03).
   */
  seq: number;
  /** The task as of `seq`, if already loaded. */
  snapshot?: Snapshot;
}

/** A running tool execution, as its owner sees it. */
export interface ToolExecutionView {
  toolId: string;
  tool: string;
  title: string;
  taskId: string;
  sessionId: string;
  callId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  ageMs: number;
  /** The last line of output; null if there is no output yet. */
  progress: string | null;
}

/** The task states at which `follow` ends. `settled`: parked or terminal. `ended`: only terminal. */
export type FollowUntil = 'settled' | 'ended';

export interface TaskService {
  /**
   * Accepts a message or a decision, or starts a task. When the promise resolves, the command is durable (E3). @throws
   * ProductError
   */
  send(incoming: Incoming): Promise<Accepted>;
  /** Cancels a task. @returns the snapshot afterwards. @throws ProductError UNKNOWN_TASK, TASK_ENDED */
  cancel(taskId: string, by: { principal: string; channel: string }, reason: string): Promise<Snapshot>;
  /**
   * Cancels a task that works. Keeps a task that waits, that has ended, or that has a newer message.
   * @throws ProductError UNKNOWN_TASK
   */
  cancelWork(
    taskId: string,
    by: { principal: string; channel: string },
    left: ReaderDisconnect,
  ): Promise<void>;
  /** The principal's running tool executions, oldest first. */
  toolExecutions(principal: string): ToolExecutionView[];
  /**
   * Stops one tool execution. The task continues (A1). For an unknown id, the returned answer says so. It is not an
   * error.
   */
  abortTool(toolId: string, principal: string, reason: string): Promise<AbortAnswer>;
  /** The task's row. The cost does not grow with the task. @throws ProductError UNKNOWN_TASK */
  row(taskId: string, principal: string): Promise<TaskRow>;
  /** The task as of its last entry, or as of `atSeq`. @throws ProductError UNKNOWN_TASK */
  snapshot(taskId: string, principal: string, atSeq?: number): Promise<Snapshot>;
  /**
   * The costs of the principal's tasks today and on the days before, by UTC day. @param days the number of days,
   * including today
   */
  costs(principal: string, days: number): Promise<CostReport>;
  /** The cost of all tasks of a session. */
  sessionCost(principal: string, sessionId: string): Promise<CostSum>;
  /**
   * The content of a file of the task's messages or results, by its hash.
   * @throws ProductError UNKNOWN_TASK; UNKNOWN_ADDRESS if the task has no such file
   */
  file(
    taskId: string,
    principal: string,
    hash: string,
  ): Promise<Pick<StoredFile, 'mediaType'> & Pick<FileBytes, 'bytes'>>;
  list(filter: TaskFilter, page: { size: number; token?: string }): Promise<TaskPage>;
  /**
   * Yields batches of entries after `after`. Ends when the task has settled (or ended) and the reader has all entries.
   * The reader pulls the entries, so `follow` needs no buffer (S3). Ends without an error when `signal` aborts.
   * @throws ProductError INVALID_CURSOR for a position beyond the journal's end (S2), UNKNOWN_TASK
   */
  follow(
    taskId: string,
    after: number,
    options: { until: FollowUntil; signal: AbortSignal },
  ): AsyncGenerator<readonly JournalEntry[], void, undefined>;
}
