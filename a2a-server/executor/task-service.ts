/**
 * Defines the task service: all commands and queries on tasks, for all transports. Several processes may use one
 * journal.
 */
import type { TraceContext } from '../../shared/net/trace-context.ts';
import type { AbortAnswer } from '../../shared/protocol/abort-answer.ts';
import type { DecisionStatement } from '../../shared/presence/presence-proof.ts';
import type { Receipt } from '../../shared/receipt/receipt.ts';
import type { CostReport, TaskCosts } from '../../shared/protocol/cost-report.ts';
import type {
  Decision,
  DecisionsPart,
  RevokePart,
  TaskSettings,
} from '../../shared/protocol/tool-approval.ts';
import type {
  FileBytes,
  OwnerFilter,
  TaskFilter,
  TaskFilterValues,
  TaskPage,
  TaskPageRequest,
  TaskRow,
} from '../journal/journal.ts';
import type { Requester } from '../access/requester.ts';
import type { CostSum } from '../task/costs/cost-sum.ts';
import type { JournalEntry, UserMessage } from '../task/events.ts';
import type { ReaderDisconnect } from '../task/cancel.ts';
import type { ExpectedGeneration } from '../task/generation.ts';
import type { Snapshot } from '../task/snapshot.ts';
import type { StoredFile } from '../task/stored-file.ts';

/** A message from a client, after the transport has parsed it. */
export interface ClientMessage extends Requester {
  channel: string;
  message: UserMessage;
  contents?: readonly FileBytes[];
  /** SHA-256 of the canonical message, in hex. It detects a repeated message. */
  bodyHash: string;
  taskId?: string;
  /** The generation that the sender expects. The server ignores it if the message starts a task. */
  expectedGeneration?: ExpectedGeneration;
  trace?: TraceContext | undefined;
  /** The session to continue. The message goes to the session's live task. If there is none, it starts a new task. */
  sessionId?: string;
  settings: TaskSettings;
  /**
   * True if the words `approve` and `deny` are decisions. A client without the approval extension has no other way to
   * decide. From other clients, the words are plain text.
   */
  wordsDecide: boolean;
  /** True if the sender may approve. Otherwise, its reply extends no budget. The default is true. */
  mayApprove?: boolean;
  /** True if the sender may send messages to the agent. Otherwise, its text must be a decision. The default is true. */
  mayDelegate?: boolean;
  /** The decisions, if the message decides tool calls. The model then does not get the message's text. */
  decisions?: DecisionsPart;
  /** The grants to revoke, if the message revokes grants. The model then does not get the message's text. */
  revoke?: RevokePart['revoke'];
}

/** True if the message decides tool calls or revokes a grant. Such a message starts no task. */
export function isDecisionOrRevocation({ decisions, revoke }: ClientMessage): boolean {
  return decisions !== undefined || revoke !== undefined;
}

export interface AcceptedMessage {
  taskId: string;
  sessionId: string;
  /**
   * The `seq` of the command's last event. For a repeated message, the `seq` of the journal's end. The stream begins
   * with the task at this `seq`. If other actions are still pending, the task still waits, so the stream ends at once.
   */
  seq: number;
  /** The task at `seq`. Absent if it is not loaded. */
  snapshot?: Snapshot;
}

export interface ToolExecutionView {
  toolId: string;
  tool: string;
  title: string;
  taskId: string;
  sessionId: string;
  callId: string;
  startedAt: number;
  ageMs: number;
  /** The last line of the tool's output. Null if there is no output yet. */
  progress: string | null;
}

/**
 * The state in which `follow` ends. `settled` means that the task waits for a person or has ended. `ended` means that
 * it has ended.
 */
export type FollowUntil = 'settled' | 'ended';

export interface TaskService {
  /**
   * Accepts a message or a decision, or starts a task. E3: resolves only when the command is durable.
   * @throws ProductError
   */
  send(incoming: ClientMessage): Promise<AcceptedMessage>;
  /**
   * Returns the session and the task that would get this message. The task is absent if the message would start one.
   * Changes nothing.
   * @throws ProductError UNKNOWN_TASK, UNKNOWN_SESSION, and others that `send` throws
   */
  recipient(incoming: ClientMessage): Promise<{ sessionId: string; taskId?: string }>;
  /**
   * Returns the statement that a passkey must sign for this decision. Changes nothing.
   * @throws ProductError with the refusal that the decision itself would get
   */
  presenceStatement(taskId: string, by: Requester, decision: Decision): Promise<DecisionStatement>;
  /** Cancels a task and returns its new snapshot. @throws ProductError UNKNOWN_TASK, TASK_ENDED */
  cancel(taskId: string, by: Requester & { channel: string }, reason: string): Promise<Snapshot>;
  /**
   * Cancels a working task. A task that waits for a person, has ended, or has a newer message stays unchanged.
   * @throws ProductError UNKNOWN_TASK
   */
  cancelWork(taskId: string, by: Requester & { channel: string }, left: ReaderDisconnect): Promise<void>;
  /** Returns the running tool executions, also those of other servers that use the journal. */
  toolExecutions(by: Requester): Promise<ToolExecutionView[]>;
  /**
   * Stops one tool execution. The task continues. For an unknown id, the returned answer says so, and no error is
   * thrown.
   */
  abortTool(toolId: string, by: Requester, reason: string): Promise<AbortAnswer>;
  /** Returns the task's row. This takes the same time for short and long tasks. @throws ProductError UNKNOWN_TASK */
  row(taskId: string, by: Requester): Promise<TaskRow>;
  /** Returns the task after its last entry, or after entry `atSeq`. @throws ProductError UNKNOWN_TASK */
  snapshot(taskId: string, by: Requester, atSeq?: number): Promise<Snapshot>;
  /** Returns the costs of the principal's tasks by UTC day. @param days the number of days, including today */
  costs(principal: string, days: number): Promise<CostReport>;
  /**
   * Returns the receipt of a task, of its first `events` events or of all.
   * @throws ProductError UNKNOWN_TASK; INVALID_CURSOR if the task has fewer events
   */
  receipt(taskId: string, by: Requester, events?: number): Promise<Receipt>;
  /**
   * Returns the cost of each model request of the task. This takes longer for a longer task.
   * @throws ProductError UNKNOWN_TASK
   */
  taskCosts(taskId: string, by: Requester): Promise<TaskCosts>;
  /**
   * Returns the journal entries after a position, in order. Does not wait for new entries.
   * @throws ProductError UNKNOWN_TASK
   */
  entries(
    taskId: string,
    by: Requester,
    { after, limit }: { after: number; limit: number },
  ): Promise<readonly JournalEntry[]>;
  /**
   * Returns the JSON Schema that checks an edited input of this tool call. Returns null if the agent does not have the
   * tool now.
   * @throws ProductError UNKNOWN_TASK, UNKNOWN_CALL
   */
  inputSchema(taskId: string, by: Requester, callId: string): Promise<Record<string, unknown> | null>;
  sessionCost(principal: string, sessionId: string): Promise<CostSum>;
  /**
   * Returns the content of a file of the task's messages or results, by its hash.
   * @throws ProductError UNKNOWN_TASK; UNKNOWN_ADDRESS if the task has no such file
   */
  file(
    taskId: string,
    by: Requester,
    hash: string,
  ): Promise<Pick<StoredFile, 'mediaType'> & Pick<FileBytes, 'bytes'>>;
  list(filter: TaskFilter, page: TaskPageRequest): Promise<TaskPage>;
  /** Returns the workspaces and the models of these tasks. */
  filterValues(owner: OwnerFilter): Promise<TaskFilterValues>;
  /**
   * Yields batches of entries after `after`. Ends when the reader has all entries of a settled or ended task. S3: the
   * reader pulls the entries, so a slow reader needs no buffer. Ends without an error when `signal` aborts.
   * @throws ProductError INVALID_CURSOR for a position after the journal's end (S2: a cursor is never rounded);
   * UNKNOWN_TASK
   */
  follow(
    taskId: string,
    after: number,
    options: { until: FollowUntil; signal: AbortSignal },
  ): AsyncGenerator<readonly JournalEntry[], void, undefined>;
}
