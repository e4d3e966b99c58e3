/**
 * Defines the journal: one append-only sequence of events per task, and an index of the tasks.
 *
 * Every implementation guarantees these rules:
 * - J1: `seq` has no gap and is never reused. An append names the last `seq` that its writer saw. A unique key (task,
 *   seq) decides between writers. An entry is durable before `append` resolves and before a reader sees it.
 * - J2: the same transaction writes the index, the message ids, the sums of costs and the written amounts.
 * - B1: the same transaction records each message id once per principal, with the hash of its body.
 * - A session has at most one live task. The creation of a second live task gets `session-busy`.
 *
 * Several processes may write. A refused append is a normal result. The writer then reads the new entries and decides
 * again.
 */
import type { TraceContext } from '../../shared/net/trace-context.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { CostRow } from '../task/costs/cost-sum.ts';
import type { DailyBudgetUse } from '../task/costs/daily-budget.ts';
import type { DailyWrittenByScope, WrittenAmount } from './written-amounts.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { JournalEntry, TaskEvent } from '../task/events.ts';
import type { StateName } from '../task/snapshot.ts';
import type { JournalPage } from './journal-page.ts';
import type { Ownership } from './ownership.ts';

/** Identifies a command, so that the journal detects a repeated one. */
export interface CommandKey {
  principal: string;
  messageId: string;
  /** SHA-256 of the canonical body, in hex. */
  bodyHash: string;
}

export interface RecordedCommand {
  taskId: string;
  sessionId: string;
  bodyHash: string;
  /** The `seq` of the command's last event in the journal. */
  seq: number;
}

export interface AppendRequest {
  taskId: string;
  /** The last `seq` that the writer has seen. 0 creates the task. */
  expectedSeq: number;
  events: readonly TaskEvent[];
  state: StateName;
  command?: CommandKey;
  /** The task's trace. The journal does not store the trace. It only passes the trace to `OnAppended`. */
  trace?: TraceContext;
  /**
   * The epoch of the owner's claim. Absent if the append is not part of an execution, or if only one server can use the
   * journal.
   */
  epoch?: number;
  /**
   * File contents that the events of this append name by hash. They belong to changed files, message files or tool
   * results.
   */
  contents?: readonly FileBytes[];
}

/** The content of a file. `hash` is its SHA-256 in hex. The journal stores the content once per task. */
export interface FileBytes {
  hash: string;
  bytes: Uint8Array;
}

export type AppendResult =
  | { type: 'appended'; entries: JournalEntry[] }
  /** Another writer has appended first. This writer has not seen the entries after `expectedSeq`. */
  | { type: 'conflict' }
  /** The append names an epoch, and this server no longer owns the task with this epoch. Nothing was appended. */
  | { type: 'fenced' }
  /** The message id was recorded before. Nothing was appended. */
  | { type: 'repeated'; command: RecordedCommand }
  /** The session already has a live task. Only the append of a new task has this result. */
  | { type: 'session-busy'; taskId: string };

export interface TaskRow {
  taskId: string;
  sessionId: string;
  principal: string;
  state: StateName;
  seq: number;
  createdAt: number;
  updatedAt: number;
  /** The first line of the task's first message, at most 200 characters. */
  title: string;
  /** The deadline of a task that waits for a person, in milliseconds since 1970. Null if there is no deadline. */
  deadline: number | null;
}

/** Selects the tasks of one principal or, with `tenant`, of all principals `tenant/…`. */
export interface OwnerFilter {
  principal: string;
  tenant?: string;
}

export interface JournalTaskFilter extends OwnerFilter {
  sessionId?: string;
  states?: readonly StateName[];
  /** Selects tasks whose task id or session id starts with one of these prefixes. */
  idPrefixes?: readonly string[];
  /** Selects tasks that changed at or after this time, in milliseconds since 1970. */
  updatedSince?: number;
  /** Selects tasks whose first message contains this text. The case of ASCII letters does not matter. */
  text?: string;
  /** Selects tasks with this working directory. */
  workspace?: string;
  /** Selects tasks whose last started turn used this model. */
  model?: string;
}

export interface TaskPageRequest {
  size: number;
  token?: string;
  /** The order of the tasks. The default is `newest-first`. */
  order?: 'newest-first' | 'oldest-first';
}

/** The workspaces and models that occur in the tasks, sorted. */
export interface TaskFilterValues {
  workspaces: string[];
  models: string[];
}

/** Selects sums of costs. `principal` alone selects all costs of that principal. */
export interface CostFilter {
  principal: string;
  /** Selects this day and later days. A day is the number of UTC days since 1970-01-01. */
  fromDay?: number;
  sessionId?: string;
}

/**
 * A page of the index, sorted by the time of the last change. `next` is an opaque token, absent on the last page.
 */
export interface TaskPage {
  rows: TaskRow[];
  /** For each row, the token of the page that begins after this row. */
  tokens: string[];
  total: number;
  next?: string;
}

/** Numbers about the tasks of all principals, for metrics. */
export interface JournalStatistics {
  /** The number of tasks by state. A state without tasks is absent. */
  tasks: Partial<Record<StateName, number>>;
  /**
   * The time of the last change of the task that has waited longest for a person, in milliseconds since 1970. Null if
   * no task waits.
   */
  waitingSince: number | null;
  /** The size of the database in bytes. SQLite's write-ahead log is not included. */
  bytes: number;
}

export interface Journal {
  /** Decides which server executes a task. */
  readonly ownership: Ownership;
  append(append: AppendRequest): Promise<AppendResult>;
  /** Returns at most `limit` entries with `seq` greater than `after`, in order. */
  read(taskId: string, after: number, limit: number): Promise<JournalEntry[]>;
  /** Returns the entries with `seq` greater than `after` that fit into a page, in order. */
  readPage(taskId: string, after: number): Promise<JournalPage>;
  row(taskId: string): Promise<TaskRow | undefined>;
  /** Returns the rows of these tasks with one query, in any order. An unknown task has no row. */
  rows(taskIds: readonly string[]): Promise<TaskRow[]>;
  command(principal: string, messageId: string): Promise<RecordedCommand | undefined>;
  /** Returns the task of a running or ended tool execution, or undefined for an unknown id. */
  toolExecution(toolId: string): Promise<{ taskId: string; principal: string } | undefined>;
  /** Returns a file content of one of the task's appends, or undefined if no content has this hash. */
  content(taskId: string, hash: string): Promise<Uint8Array | undefined>;
  /** Returns the principal's tasks with saved file contents. The task with the newest change is first. */
  withSavedFiles(principal: string): Promise<TaskRow[]>;
  /** Returns a page of tasks. @throws ProductError MALFORMED for an unknown page token */
  list(filter: JournalTaskFilter, page: TaskPageRequest): Promise<TaskPage>;
  /** Returns the workspaces and the models of the tasks that `owner` selects. */
  filterValues(owner: OwnerFilter): Promise<TaskFilterValues>;
  /** Returns a session's tasks, oldest first. Returns no tasks for an unknown session. */
  session(principal: string, sessionId: string): Promise<TaskRow[]>;
  /**
   * Returns the sums of costs by UTC day, session and model. A model request belongs to the day of its answer. The
   * duration of the query grows with the number of sums, not with the number of events.
   */
  costs(filter: CostFilter): Promise<CostRow[]>;
  dailyUse(principal: string, day: number): Promise<DailyBudgetUse>;
  /**
   * Returns how much the principal, its tenant and all principals together have written on this UTC day. The duration
   * of the query grows with the number of principals of that day. Events that were written before the database had the
   * table `written` are not included.
   */
  dailyWritten(principal: string, day: number): Promise<DailyWrittenByScope>;
  /** Returns the number of events of a task, and its size in bytes. Both are 0 for an unknown task. */
  taskSize(taskId: string): Promise<WrittenAmount>;
  /**
   * Returns the submitted and working tasks of all principals, oldest first. A restarted server continues these tasks.
   */
  unsettled(): Promise<TaskRow[]>;
  /** Counts the tasks with indexes only. With 100,000 tasks this takes some milliseconds. */
  statistics(): Promise<JournalStatistics>;
  /** Returns at most `limit` tasks of all principals that have a deadline, earliest deadline first. */
  deadlines(limit: number): Promise<TaskRow[]>;
  /**
   * Deletes at most `limit` old sessions of all principals. A session is old if all its tasks ended before `before`
   * (milliseconds since 1970). A session disappears for all readers at the same moment. Its tasks and their cursors
   * are then unknown. The sums of its costs stay, without the session id. `maintain` frees the space later.
   *
   * A task's message ids are deleted too. If a client repeats such a message, the message starts another task. A
   * message that names the deleted session fails.
   * @returns the number of deleted sessions
   */
  deleteEndedSessions(before: number, limit: number): Promise<number>;
  /**
   * Runs one step of the journal's own maintenance. S1, S2: readers notice nothing. Each cursor stays valid, and each
   * entry stays the same.
   * @param limit the maximum number of entries to read or to remove
   * @returns the amount of work done; 0 if nothing is left to do
   */
  maintain(limit: number): Promise<number>;
  /**
   * Calls `wake` after durable appends to the task by any process. One call may stand for several appends, so the
   * watcher must read all new entries.
   * @returns a function that ends the watch
   */
  watch(taskId: string, wake: () => void): () => void;
  /**
   * Returns the time for the `at` of new entries, in milliseconds since 1970. Servers that share a journal use one
   * clock, so they agree about deadlines.
   */
  now(): number;
  /** The records that all servers of the journal share. Absent if one server uses the journal. */
  readonly records?: RecordStore;
  /**
   * True while this server can use the database that it opened at the start. Otherwise, the server tries again by
   * itself.
   */
  reachable(): boolean;
  close(): Promise<void>;
}

/** Thrown if another process already uses the journal. */
export class JournalInUseError extends ProductError {
  constructor(path: string, cause: unknown) {
    super(
      'CONFIGURATION',
      `Another a2a-server already uses the journal ${path}. Use that server, stop it first, or choose another state directory for this one.`,
      { cause },
    );
  }
}
