/**
 * The task service: every command and every view of a task, for whatever transport asks. Implemented over the journal;
 * owned by one process or by twenty, the journal decides.
 */
import type { DecisionsPart, RevokePart, TaskSettings } from '../../shared/protocol/tool-approval.ts';
import type { TaskFilter, TaskPage, TaskRow } from '../journal/journal.ts';
import type { JournalEntry, UserMessage } from '../task/events.ts';
import type { Snapshot } from '../task/snapshot.ts';

/** A message from a client, as the transport parsed it. */
export interface Incoming {
  principal: string;
  channel: string;
  message: UserMessage;
  /** SHA-256 (hex) of the canonical message, for de-duplication (R27). */
  bodyHash: string;
  /** Go on with this task. */
  taskId?: string;
  /** Go on with this session: its live task, or its next one. */
  sessionId?: string;
  settings: TaskSettings;
  /**
   * Whether the exact words `approve` and `deny` decide: for a client that does not speak the approval extension and has
   * nothing else to answer with. From any other they are a message like every text.
   */
  wordsDecide: boolean;
  /** Present when the message is a decision; its text is then not a message to the model. */
  decisions?: DecisionsPart;
  /** Present when the message takes back trust; its text is then not a message to the model either. */
  revoke?: RevokePart['revoke'];
}

/** Where an accepted command stands. */
export interface Accepted {
  taskId: string;
  sessionId: string;
  /**
   * `seq` of the command's last event. Its stream shows the task as of here and all that follows; when the task stands
   * still as of here (a decision that leaves others pending), there is nothing to wait for (R03). For a message that was
   * accepted before it is the journal's end.
   */
  seq: number;
  /** The task as of `seq`, where it is at hand. */
  snapshot?: Snapshot;
}

/** A tool execution under way, as its owner may see it. */
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
  /** The last line it has put out; null before the first. */
  progress: string | null;
}

export interface AbortAnswer {
  success: boolean;
  message: string;
}

/** When a follower has seen enough: `settled` = parked or ended, `ended` = terminal only. */
export type FollowUntil = 'settled' | 'ended';

export interface TaskService {
  /** Accepts a message, a decision or the start of a task. When this resolves, it is durable (E3). @throws ProductError */
  send(incoming: Incoming): Promise<Accepted>;
  /** Ends a task. @returns its snapshot after. @throws ProductError UNKNOWN_TASK, TASK_ENDED */
  cancel(taskId: string, by: { principal: string; channel: string }, reason: string): Promise<Snapshot>;
  /** The principal's tool executions under way, the oldest first. */
  toolExecutions(principal: string): ToolExecutionView[];
  /** Stops one tool execution; the task goes on (A1). Never throws for an id that names nothing. */
  abortTool(toolId: string, principal: string, reason: string): Promise<AbortAnswer>;
  /** Where the task stands; what this costs does not grow with the task. @throws ProductError UNKNOWN_TASK */
  row(taskId: string, principal: string): Promise<TaskRow>;
  /** The task as of its last entry, or as of `atSeq`. @throws ProductError UNKNOWN_TASK */
  snapshot(taskId: string, principal: string, atSeq?: number): Promise<Snapshot>;
  list(filter: TaskFilter, page: { size: number; token?: string }): Promise<TaskPage>;
  /**
   * Batches of entries after `after`, live and late alike, until the task has settled (or ended) and all is read.
   * Pulled by the reader: nothing is buffered for it (S3). Ends quietly when `signal` aborts.
   * @throws ProductError INVALID_CURSOR for a position beyond the journal's end (S2), SHUTTING_DOWN
   */
  follow(
    taskId: string,
    after: number,
    options: { until: FollowUntil; signal: AbortSignal },
  ): AsyncGenerator<readonly JournalEntry[], void, undefined>;
}
