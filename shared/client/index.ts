/**
 * The entry point of `mcp-a2a-bridge/client`, a library for Node and web pages. It starts tasks, follows them, sends
 * decisions, aborts tools and reconnects. It uses only APIs that Node and browsers have (fetch, AbortSignal,
 * ReadableStream, EventTarget).
 */
export { A2aClient } from './a2a/a2a-client.ts';
export type { A2aClientOptions } from './a2a/a2a-client.ts';
export type { ToolExecution } from './a2a/agent-requests.ts';
export type { ListedTask, TaskList } from './a2a/listed-task.ts';
export type { A2aTaskRequest, FileToSend } from './a2a/message.ts';
export { ClientError } from './core/client-error.ts';
export type { ClientErrorCode } from './core/client-error.ts';
export type { ClientOptions } from './core/client-options.ts';
export type { Execution, ExecutionOptions } from './core/execution.ts';
export { McpClient } from './mcp/mcp-client.ts';
export type { McpClientOptions } from './mcp/mcp-client.ts';
export type { RequestOptions } from './mcp/mcp-connection.ts';
export type { BridgeTaskRequest, BridgeToolRequest } from './mcp/bridge-task-transport.ts';
export type { McpCallResult, SessionToolExecution } from './mcp/session-report.ts';
export type { Operation } from './core/operation-state.ts';
export { Operations } from './core/operation-store.ts';
export type { ExecutionStarter } from './core/operation-store.ts';
export type { ExecuteToolOptions, ToolUpdate } from './core/tool-requests.ts';
export { UIToolExecutor } from './core/ui-tool-executor.ts';
export type { ToolClient } from './core/ui-tool-executor.ts';
export type { RetryPolicy } from './core/retry-policy.ts';
export type { Progress } from './core/progress.ts';
export { hasEnded } from './core/task-report.ts';
export type { PendingAction, RunningTool, TaskReport, TaskState } from './core/task-report.ts';
export type { Answer } from '../protocol/question.ts';
export type { CostReport, TaskCosts } from '../protocol/cost-report.ts';
export type { AbortAnswer } from '../protocol/abort-answer.ts';
export type {
  CommandRequest,
  Decision,
  GrantsToRevoke,
  TaskRequest,
  ToolRequest,
} from './core/task-request.ts';
