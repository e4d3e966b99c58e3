/**
 * The journal port: append-only, gap-free event sequences, one per task, and the index over them.
 *
 * Upheld by every implementation
 * - J1 `seq` is gap-free and never reused; an append names the `seq` it expects the task to end with, and a unique
 *   key (task, seq) decides between writers. An entry is durable before `append` resolves and before any reader sees it.
 * - J2 everything else it answers (the index of tasks, the message ids) is written in the same transaction.
 * - B1/R27 a message id is recorded once per principal, with the hash of its body, in the same transaction.
 * - One live task per session: a second `create` for a session with a live task conflicts.
 *
 * Nothing here assumes one process: a refused append is an ordinary answer, to be met by reading on and deciding again.
 */
import type { JournalEntry, TaskEvent } from '../task/events.ts';
import type { StateName } from '../task/snapshot.ts';

/** The message a command came with; it makes the command idempotent. */
export interface CommandKey {
  principal: string;
  messageId: string;
  /** SHA-256 (hex) of the canonical body. */
  bodyHash: string;
}

/** What a command with the same message id did before. */
export interface RecordedCommand {
  taskId: string;
  sessionId: string;
  bodyHash: string;
  /** `seq` of the last event the command appended. */
  seq: number;
}

export interface Append {
  taskId: string;
  /** The `seq` of the last entry the writer has seen; 0 creates the task. */
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
  /** Somebody else wrote first: read on from `expectedSeq`. */
  | { type: 'conflict' }
  /** This message id has been recorded before; nothing was appended. */
  | { type: 'repeated'; command: RecordedCommand }
  /** `create` only: the session has a live task. */
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
  /** The first line of the first message, cut to 200 characters: what a list shows. */
  title: string;
  /** When a parked task ends by itself, in milliseconds since the epoch; null for one that waits without end, or moves. */
  deadline: number | null;
}

export interface TaskFilter {
  principal: string;
  sessionId?: string;
  states?: readonly StateName[];
  /** Only tasks updated at or after this time (ms). */
  updatedSince?: number;
}

/** A page of the index, newest update first. `next` is opaque; absent on the last page. */
export interface TaskPage {
  rows: TaskRow[];
  total: number;
  next?: string;
}

export interface Journal {
  append(append: Append): Promise<AppendResult>;
  /** Entries with `seq` greater than `after`, in order, at most `limit`. */
  read(taskId: string, after: number, limit: number): Promise<JournalEntry[]>;
  row(taskId: string): Promise<TaskRow | undefined>;
  command(principal: string, messageId: string): Promise<RecordedCommand | undefined>;
  /** The task of a tool execution that was begun, running or not; undefined where there was none. */
  toolExecution(toolId: string): Promise<{ taskId: string; principal: string } | undefined>;
  /** What was appended as a content of the task; undefined where the task has none with this hash. */
  content(taskId: string, hash: string): Promise<Uint8Array | undefined>;
  /** The principal's tasks whose tools have changed files, or were about to, the newest update first. */
  withSavedFiles(principal: string): Promise<TaskRow[]>;
  /** @throws ProductError MALFORMED for a page token that is not one of ours. */
  list(filter: TaskFilter, page: { size: number; token?: string }): Promise<TaskPage>;
  /** A session's tasks, oldest first; empty when the principal has no such session. */
  session(principal: string, sessionId: string): Promise<TaskRow[]>;
  /** Tasks of anybody that were moving when the process ended: submitted or working, oldest first. */
  unsettled(): Promise<TaskRow[]>;
  /** Tasks of anybody that have a deadline, the earliest first, at most `limit`. */
  deadlines(limit: number): Promise<TaskRow[]>;
  /**
   * Deletes sessions of anybody that are over: all their tasks have ended, the last of them before `before` (ms since the
   * epoch). At most `limit` sessions, each whole and at once: entries, contents, rows and message ids. A deleted task is an unknown
   * one, and so is a cursor on it. A message id is kept for as long as its task, so that a repeat is told as one; after
   * that the same message is a new one: it starts another task, or, if it names the session, finds none.
   * @returns how many sessions were deleted
   */
  forget(before: number, limit: number): Promise<number>;
  /**
   * Stores a stretch of a long journal, whose task stands still, in less space. No answer changes by it: every cursor stays
   * good, and every entry is given back as it was (S1, S2).
   * @param limit how many entries it looks at, at most
   * @returns how many it looked at; 0 when there is nothing left to do
   */
  compact(limit: number): Promise<number>;
  /**
   * Calls `wake` after each durable append to the task, by any process. Wakes may be merged; read to learn what came.
   * @returns how to stop.
   */
  watch(taskId: string, wake: () => void): () => void;
  close(): Promise<void>;
}
