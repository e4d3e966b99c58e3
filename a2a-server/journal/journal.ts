/**
 * The journal port: one append-only sequence of events for each task, and an index of the tasks.
 *
 * Every implementation guarantees:
 * - J1: `seq` has no gap, and the journal never reuses it. An append names the last `seq` that its writer saw. A unique
 *   key (task, seq) decides between writers. An entry is durable before `append` resolves and before a reader sees it.
 * - J2: the same transaction writes the index, the message ids and the sums of costs.
 * - B1/R27: the same transaction records each message id once per principal, with the hash of its body.
 * - A session has at most one live task. A second `create` conflicts.
 *
 * Several processes may write. A refused append is a normal result. The writer reads the new entries and decides again.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { CostRow } from '../task/cost-sum.ts';
import type { DailyUse } from '../task/daily-budget.ts';
import type { JournalEntry, TaskEvent } from '../task/events.ts';
import type { StateName } from '../task/snapshot.ts';

/** The message id of a command. The journal uses it to detect a repeated command. */
export interface CommandKey {
  principal: string;
  messageId: string;
  /** SHA-256 (hex) of the canonical body. */
  bodyHash: string;
}

/** The result of an earlier command with the same message id. */
export interface RecordedCommand {
  taskId: string;
  sessionId: string;
  bodyHash: string;
  /** The `seq` of the command's last event. */
  seq: number;
}

export interface Append {
  taskId: string;
  /** The last `seq` that the writer has seen. The value 0 creates the task. */
  expectedSeq: number;
  events: readonly TaskEvent[];
  /** The task's state after these events. */
  state: StateName;
  command?: CommandKey;
  /**
   * The contents of files: of files before a tool changes them, of a message's files, and of a tool result's files. The
   * events of this append name them by their hashes.
   */
  contents?: readonly FileBytes[];
}

/** The content of a file, with the SHA-256 (hex) of its bytes. The journal stores it once per task, with the task. */
export interface FileBytes {
  hash: string;
  bytes: Uint8Array;
}

export type AppendResult =
  | { type: 'appended'; entries: JournalEntry[] }
  /** Another writer was faster. Read the entries after `expectedSeq`. */
  | { type: 'conflict' }
  /** This message id is already recorded. Nothing was appended. */
  | { type: 'repeated'; command: RecordedCommand }
  /** Only for `create`: the session has a live task. */
  | { type: 'session-busy'; taskId: string };

/** A row of the index. */
export interface TaskRow {
  taskId: string;
  sessionId: string;
  principal: string;
  state: StateName;
  seq: number;
  createdAt: number;
  updatedAt: number;
  /** The first line of the first message, at most 200 characters, for lists. */
  title: string;
  /** The deadline of a parked task, in milliseconds since the epoch; null if it has none or is not parked. */
  deadline: number | null;
}

export interface TaskFilter {
  principal: string;
  sessionId?: string;
  states?: readonly StateName[];
  /** Only tasks whose task id or session id starts with one of these prefixes. */
  idPrefixes?: readonly string[];
  /** Only tasks with an update at or after this time, in milliseconds since the epoch. */
  updatedSince?: number;
}

/** Without a filter, all costs of the principal. */
export interface CostFilter {
  principal: string;
  /** Only this day and later days. A day is the number of UTC days since 1970-01-01. */
  fromDay?: number;
  sessionId?: string;
}

/** A page of the index, newest update first. `next` is an opaque token. The last page has no `next`. */
export interface TaskPage {
  rows: TaskRow[];
  total: number;
  next?: string;
}

export interface Journal {
  append(append: Append): Promise<AppendResult>;
  /** Returns the entries with `seq` greater than `after`, in order, at most `limit`. */
  read(taskId: string, after: number, limit: number): Promise<JournalEntry[]>;
  row(taskId: string): Promise<TaskRow | undefined>;
  command(principal: string, messageId: string): Promise<RecordedCommand | undefined>;
  /** Returns the task of a running or ended tool execution. Undefined for an unknown id. */
  toolExecution(toolId: string): Promise<{ taskId: string; principal: string } | undefined>;
  /** Returns a file content that an append of the task contained. Undefined if no content has this hash. */
  content(taskId: string, hash: string): Promise<Uint8Array | undefined>;
  /** Returns the principal's tasks with saved file contents, newest update first. */
  withSavedFiles(principal: string): Promise<TaskRow[]>;
  /** @throws ProductError MALFORMED for an unknown page token. */
  list(filter: TaskFilter, page: { size: number; token?: string }): Promise<TaskPage>;
  /** Returns a session's tasks, oldest first. Empty if the principal has no such session. */
  session(principal: string, sessionId: string): Promise<TaskRow[]>;
  /**
   * Returns the sums of costs by UTC day, session and model. A request counts for the day of its answer. The work grows
   * with the number of sums, not with the number of events.
   */
  costs(filter: CostFilter): Promise<CostRow[]>;
  /** Returns the principal's use of the budget per day. */
  dailyUse(principal: string, day: number): Promise<DailyUse>;
  /** Returns the submitted and working tasks of all principals, oldest first. A restarted server continues them. */
  unsettled(): Promise<TaskRow[]>;
  /** Returns the tasks of all principals with a deadline, earliest first, at most `limit`. */
  deadlines(limit: number): Promise<TaskRow[]>;
  /**
   * Deletes at most `limit` old sessions of all principals. A session is old if all its tasks have ended, the last one
   * before `before` (milliseconds since the epoch). A session disappears for all readers at once. Its tasks, and the
   * cursors on them, are then unknown. The sums of their costs stay, without the session ids. `maintain` frees the space of entries and contents. The journal deletes a
   * message id with its task. If a client repeats that message, it starts another task, or fails if it names the
   * deleted session.
   * @returns the number of deleted sessions
   */
  deleteEndedSessions(before: number, limit: number): Promise<number>;
  /**
   * Runs one step of the implementation's own maintenance. It changes no answer: each cursor stays valid, and each
   * entry stays the same (S1, S2).
   * @param limit the maximum number of entries to read or to remove
   * @returns the amount of work done; 0 if nothing is left to do
   */
  maintain(limit: number): Promise<number>;
  /**
   * Calls `wake` after durable appends to the task by any process. Several appends may cause only one call. So the
   * watcher must read all new entries.
   * @returns a function that stops watching.
   */
  watch(taskId: string, wake: () => void): () => void;
  close(): Promise<void>;
}

/** An implementation throws this when it opens a journal that another process uses. */
export class JournalInUse extends ProductError {
  constructor(path: string, cause: unknown) {
    super(
      'CONFIGURATION',
      `Another a2a-server already uses the journal ${path}. Use that server, stop it first, or choose another state directory for this one.`,
      { cause },
    );
  }
}
