import { type AbortAnswer, abortAnswerSchema } from '../../protocol/abort-answer.ts';
import { ClientError } from '../core/client-error.ts';
import { isRetryable, retryWithBackOff } from '../core/retry-policy.ts';
import type { RetryPolicy, RetryOptions } from '../core/retry-policy.ts';
import type { McpConnection, RequestOptions } from './mcp-connection.ts';
import {
  mcpCallResultSchema,
  sessionListSchema,
  structuredContentOf,
  runningToolsOf,
} from './session-report.ts';
import type { McpCallResult, SessionToolExecution } from './session-report.ts';

/** The arguments of a tool call. JSON omits undefined fields. */
type Arguments = Readonly<Record<string, unknown>>;

export class BridgeToolCaller {
  readonly #connection: McpConnection;
  readonly #prefix: string;
  readonly #retryPolicy: RetryPolicy;

  constructor(connection: McpConnection, prefix: string, retryPolicy: RetryPolicy) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.#retryPolicy = retryPolicy;
  }

  /** Calls an MCP tool once. A result with `isError` is returned, not thrown. @throws ClientError */
  call(name: string, args: Arguments, options?: RequestOptions): Promise<McpCallResult> {
    return this.#connection.request(mcpCallResultSchema, this.#callRequest(name, args), options);
  }

  /** Calls a read-only MCP tool. If the response is lost, calls the tool again. */
  look(
    name: string,
    args: Arguments,
    { onLost, ...options }: RequestOptions & { onLost?: RetryOptions['onFailure'] } = {},
  ): Promise<McpCallResult> {
    return retryWithBackOff(() => this.call(name, args, options), this.#retryPolicy, {
      passes: isLost,
      signal: options.signal,
      onFailure: onLost,
    });
  }

  /** Calls an MCP tool while the page unloads. Does not wait for the response. */
  callLeaving(name: string, args: Arguments): void {
    this.#connection.requestLeaving(this.#callRequest(name, args));
  }

  async toolsOf(sessionId: string): Promise<readonly SessionToolExecution[]> {
    return runningToolsOf(await this.look('check_task_progress_and_status', { sessionId }));
  }

  /** Returns the running tool executions of all sessions of the bridge. */
  async tools(): Promise<readonly SessionToolExecution[]> {
    const listed = await this.look('list_all_active_sessions', { state: 'working' });
    const { sessions } = structuredContentOf(sessionListSchema, listed);
    return (await Promise.all(sessions.map(({ sessionId }) => this.toolsOf(sessionId)))).flat();
  }

  abortTool(toolId: string, reason: string): Promise<AbortAnswer> {
    return this.#connection.request(abortAnswerSchema, { method: 'tools/abort', params: { toolId, reason } });
  }

  #callRequest(name: string, args: Arguments): { method: string; params: Record<string, unknown> } {
    return {
      method: 'tools/call',
      params: {
        name: `${this.#prefix}${name}`,
        arguments: args,
        _meta: { 'mcp-a2a-bridge/wholeResult': true },
      },
    };
  }
}

/**
 * Returns true if a read-only tool may be called again after this error. After a lost response, a repetition is safe
 * too, because the call changes nothing.
 */
function isLost(error: unknown): error is ClientError {
  return isRetryable(error) || (error instanceof ClientError && error.code === 'outcome-unknown');
}
