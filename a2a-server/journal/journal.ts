/**
 * The journal port: one append-only sequence of events for each task, and an index of the tasks.
 *
 * Every implementation guarantees:
 * - J1 `seq` has no gap and is never reused. An append names the last `seq` that its writer saw. A unique key (task, seq)
 *   decides between writers. An entry is durable before `append` resolves and before a reader sees it.
 * - J2 the index and the message ids are written in the same transaction.
 * - B1/R27 each message id is recorded once per principal, with the hash of its body, in the same transaction.
 * - A session has at most one live task. A second `create` conflicts.
 *
 * Several processes may write. A refused append is a normal result: the writer reads the new entries and decides again.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { JournalEntry, TaskEvent } from '../task/events.ts';
import type { StateName } from '../task/snapshot.ts';

/** The message id of a command. It makes the command idempotent. */
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
  /** The last `seq` that the writer has seen; 0 creates the task. */
  expectedSeq: number;
  events: readonly TaskEvent[];
  /** The task's state after these events. */
  state: StateName;
  command?: CommandKey;
  /** What files hold that a tool is about to change; durable with the events that name them by their hashes. */
  contents?: readonly FileBytes[];
}

/** What a file holds, by the SHA-256 (hex) of its bytes. It is kept once per task, for as long as the task. */
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
  /** The first line of the first message, cut to 200 characters, for lists. */
  title: string;
  /** The deadline of a parked task, in milliseconds since the epoch; null if it has none or is not parked. */
  deadline: number | null;
}

export interface TaskFilter {
  principal: string;
  sessionId?: string;
  states?: readonly StateName[];
  /** Only tasks whose id, or whose session's id, begins with one of these. */
  idPrefixes?: readonly string[];
  /** Only tasks with an update at or after this time, in milliseconds since the epoch. */
  updatedSince?: number;
}

/** A page of the index, newest update first. `next` is an opaque token; absent on the last page. */
export interface TaskPage {
  rows: TaskRow[];
  total: number;
  next?: string;
}

export interface Journal {
  append(append: Append): Promise<AppendResult>;
  /** The entries with `seq` greater than `after`, in order, at most `limit`. */
  read(taskId: string, after: number, limit: number): Promise<JournalEntry[]>;
  row(taskId: string): Promise<TaskRow | undefined>;
  command(principal: string, messageId: string): Promise<RecordedCommand | undefined>;
  /** The task of a tool execution, running or ended; undefined if there is none. */
  toolExecution(toolId: string): Promise<{ taskId: string; principal: string } | undefined>;
  /** A file content that was appended to the task; undefined if the task has none with this hash. */
  content(taskId: string, hash: string): Promise<Uint8Array | undefined>;
  /** The principal's tasks whose tools changed files or were about to, newest update first. */
  withSavedFiles(principal: string): Promise<TaskRow[]>;
  /** @throws ProductError MALFORMED for an unknown page token. */
  list(filter: TaskFilter, page: { size: number; token?: string }): Promise<TaskPage>;
  /** A session's tasks, oldest first; empty if the principal has no such session. */
  session(principal: string, sessionId: string): Promise<TaskRow[]>;
  /** The submitted and working tasks of all principals, oldest first. A restarted server continues them. */
  unsettled(): Promise<TaskRow[]>;
  /** The tasks of all principals that have a deadline, earliest first, at most `limit`. */
  deadlines(limit: number): Promise<TaskRow[]>;
  /**
   * Deletes old sessions of all principals: all their tasks have ended, the last one before `before` (milliseconds since the
   * epoch). It deletes at most `limit` sessions. A session disappears for all readers at once: the tasks and cursors on
   * them are then unknown. `maintain` frees the space of entries and contents. A message id is deleted with its task. If that message is sent again, it
   * is new: it starts another task, or fails if it names the deleted session.
   * @returns the number of deleted sessions
   */
  deleteEndedSessions(before: number, limit: number): Promise<number>;
  /**
   * Does a part of the implementation's own maintenance. No answer changes: every cursor stays valid, and every entry reads
   * the same (S1, S2).
   * @param limit the maximum number of entries to read or to remove
   * @returns the amount of work done; 0 if nothing is left to do
   */
  maintain(limit: number): Promise<number>;
  /**
   * Calls `wake` after each durable append to the task by any process. Several appends may cause one call, so read the new
   * entries.
   * @returns a function that stops watching.
   */
  watch(taskId: string, wake: () => void): () => void;
  close(): Promise<void>;
}

/** Another process uses the journal. An implementation throws this when it opens a journal. */
export class JournalInUse extends ProductError {
  constructor(path: string, cause: unknown) {
    super(
      'CONFIGURATION',
      `Another a2a-server already uses the journal ${path}. Use that server, stop it first, or choose another state directory for this one.`,
      { cause },
    );
  }
}
