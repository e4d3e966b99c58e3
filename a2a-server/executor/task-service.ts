/**
 * Defines the task service: all commands and queries on tasks, for all transports. Several processes may use one
 * journal.
 */
import type { AbortAnswer } from '../../shared/protocol/abort-answer.ts';
import type { Requester } from '../access/requester.ts';
import type { ReaderDisconnect } from '../task/cancel.ts';
import type { Snapshot } from '../task/snapshot.ts';
import type { MessageReceiver } from './messages/message-receiver.ts';
import type { TaskQueries } from './queries/task-queries.ts';
import type { ToolExecutionView } from './tool-executions/tool-execution-view.ts';

export interface TaskService extends MessageReceiver, TaskQueries {
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
}
