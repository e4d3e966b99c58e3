/**
 * A store of operations (tasks that a user interface shows). It starts operations, keeps the state of each as one
 * value, and notifies listeners of changes.
 *
 * Values are immutable. `all` is the same array until a value changes, as React's `useSyncExternalStore`, Svelte stores
 * and signals require.
 */
import type { Execution, ExecutionOptions } from './execution.ts';
import {
  operationAfterError,
  isOperationOver,
  operationAfterProgress,
  operationAfterReport,
  startingOperation,
} from './operation-state.ts';
import type { Operation } from './operation-state.ts';
import type { Decision } from './task-request.ts';

/** The client that starts the executions: an A2aClient or an McpClient. */
export interface ExecutionStarter<Request extends { text: string }> {
  start(request: Request, options?: ExecutionOptions): Execution;
}

export class Operations<Request extends { text: string }> {
  readonly #client: ExecutionStarter<Request>;
  readonly #executions = new Map<string, Execution>();
  readonly #listeners = new Set<() => void>();
  /** The operations by id, in the order in which they started. */
  #operations: ReadonlyMap<string, Operation> = new Map();
  #all: readonly Operation[] = [];

  constructor(client: ExecutionStarter<Request>) {
    this.#client = client;
  }

  get all(): readonly Operation[] {
    return this.#all;
  }

  get(id: string): Operation | undefined {
    return this.#operations.get(id);
  }

  /** Starts an operation and returns its id. Never throws. An error becomes the operation's state. */
  start(request: Request, options: Omit<ExecutionOptions, 'onProgress'> = {}): string {
    const execution = this.#client.start(request, {
      ...options,
      onProgress: (progress) =>
        this.#change(execution.id, (before) => operationAfterProgress(before, progress)),
    });
    const { id, result } = execution;
    this.#executions.set(id, execution);
    this.#set(new Map([...this.#operations, [id, startingOperation(id, request.text)]]));
    void result
      .then(
        (report) => this.#change(id, (before) => operationAfterReport(before, report)),
        (error: unknown) => this.#change(id, (before) => operationAfterError(before, error)),
      )
      .finally(() => this.#executions.delete(id));
    return id;
  }

  /** Cancels an operation. Has no effect if the operation has ended or is unknown. @throws ClientError */
  async cancel(id: string, reason = 'cancelled by the person'): Promise<void> {
    await this.#executions.get(id)?.cancel(reason);
  }

  /**
   * Sends decisions on the operation's pending actions.
   * @throws ClientError if the server refuses a decision. The operation then still waits.
   */
  async decide(id: string, ...decisions: readonly Decision[]): Promise<void> {
    await this.#executions.get(id)?.decide(...decisions);
  }

  /** Answers the agent's question. @throws ClientError */
  async say(id: string, text: string): Promise<void> {
    await this.#executions.get(id)?.say(text);
  }

  /** Removes an ended operation. Returns false if the operation has not ended or is unknown. */
  dismiss(id: string): boolean {
    const operation = this.get(id);
    if (operation === undefined || !isOperationOver(operation)) return false;
    this.#set(new Map([...this.#operations].filter(([each]) => each !== id)));
    return true;
  }

  /**
   * Registers a listener, and returns a function that removes it.
   * @param listener runs after each change. If it throws, the platform reports an uncaught error.
   */
  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  #change(id: string, change: (before: Operation) => Operation): void {
    const before = this.#operations.get(id);
    if (before === undefined) return;
    const after = change(before);
    if (after !== before) this.#set(new Map([...this.#operations, [id, after]]));
  }

  #set(operations: ReadonlyMap<string, Operation>): void {
    this.#operations = operations;
    this.#all = [...operations.values()];
    for (const listener of this.#listeners) tellSafely(listener);
  }
}

/** Calls the listener. Its error must not stop other listeners or executions. */
function tellSafely(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
