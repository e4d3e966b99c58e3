/** Runs tools for a user interface, which gives each tool run an id of its own. */
import type { TaskReport } from './task-report.ts';
import type { ExecuteToolOptions, ToolUpdate } from './tool-requests.ts';

/** The client that runs the tools: an A2aClient or an McpClient. */
export interface ToolClient {
  executeTool(
    tool: string,
    input?: Readonly<Record<string, unknown>>,
    options?: ExecuteToolOptions,
  ): Promise<TaskReport>;
}

export class UIToolExecutor {
  readonly #client: ToolClient;
  readonly #operations = new Map<string, AbortController>();

  constructor(client: ToolClient) {
    this.#client = client;
  }

  /**
   * Runs one tool under an id that the caller chooses. Returns the report of the ended task.
   * @param onCancelled called if this or another client cancelled the task
   * @throws ClientError
   * @throws Error if the id is in use
   */
  async executeWithUI(
    operationId: string,
    tool: string,
    input: Readonly<Record<string, unknown>>,
    onProgress?: (update: ToolUpdate) => void,
    onCancelled?: () => void,
    options: Omit<ExecuteToolOptions, 'signal' | 'onProgress'> = {},
  ): Promise<TaskReport> {
    if (this.#operations.has(operationId)) throw new Error(`The operation ${operationId} runs already.`);
    const cancel = new AbortController();
    this.#operations.set(operationId, cancel);
    try {
      const wanted = { ...options, signal: cancel.signal, onProgress };
      const report = await this.#client.executeTool(tool, input, wanted);
      if (report.state === 'canceled') onCancelled?.();
      return report;
    } catch (error) {
      // The caller cancelled before the client had sent the task.
      if (cancel.signal.aborted) onCancelled?.();
      throw error;
    } finally {
      this.#operations.delete(operationId);
    }
  }

  /** Cancels an operation: its tool stops, and its task ends. Returns false if no operation with this id runs. */
  cancelOperation(operationId: string, reason = 'cancelled by the person'): boolean {
    const operation = this.#operations.get(operationId);
    operation?.abort(reason);
    return operation !== undefined;
  }
}
