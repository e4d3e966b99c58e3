/**
 * The operations of a user interface of any make: starts them, keeps each as one value, and tells when one has changed.
 *
 * Values are replaced and never changed, and `all` is the same array until one is: that is what React's
 * `useSyncExternalStore`, a Svelte store or a signal wants.
 */
import type { Execution, ExecutionOptions } from './execution.ts';
import { broken, isOver, progressed, standing, starting } from './operation.ts';
import type { Operation } from './operation.ts';
import type { Decision } from './task-request.ts';

/** Either client. */
export interface Starter<Request extends { text: string }> {
  start(request: Request, options?: ExecutionOptions): Execution;
}

export class Operations<Request extends { text: string }> {
  readonly #client: Starter<Request>;
  readonly #executions = new Map<string, Execution>();
  readonly #listeners = new Set<() => void>();
  /** In the order they were started. */
  #operations: ReadonlyMap<string, Operation> = new Map();
  #all: readonly Operation[] = [];

  constructor(client: Starter<Request>) {
    this.#client = client;
  }

  get all(): readonly Operation[] {
    return this.#all;
  }

  get(id: string): Operation | undefined {
    return this.#operations.get(id);
  }

  /** @returns the operation's id. Nothing is thrown: what goes wrong is the operation's state. */
  start(request: Request, options: Omit<ExecutionOptions, 'onProgress'> = {}): string {
    const execution = this.#client.start(request, {
      ...options,
      onProgress: (progress) => this.#change(execution.id, (before) => progressed(before, progress)),
    });
    const { id, result } = execution;
    this.#executions.set(id, execution);
    this.#set(new Map([...this.#operations, [id, starting(id, request.text)]]));
    void result
      .then(
        (report) => this.#change(id, (before) => standing(before, report)),
        (error: unknown) => this.#change(id, (before) => broken(before, error)),
      )
      .finally(() => this.#executions.delete(id));
    return id;
  }

  /** Ends one. Of one that has ended, or that nobody knows, it is a no-op. @throws ClientError */
  async cancel(id: string, reason = 'canceled by the person'): Promise<void> {
    await this.#executions.get(id)?.cancel(reason);
  }

  /** @throws ClientError when the server refuses them; the operation still waits then */
  async decide(id: string, ...decisions: readonly Decision[]): Promise<void> {
    await this.#executions.get(id)?.decide(...decisions);
  }

  /** Answers the agent's question. @throws ClientError */
  async say(id: string, text: string): Promise<void> {
    await this.#executions.get(id)?.say(text);
  }

  /** Forgets one that is over. @returns false for one that is not, or that nobody knows */
  dismiss(id: string): boolean {
    const operation = this.get(id);
    if (operation === undefined || !isOver(operation)) return false;
    this.#set(new Map([...this.#operations].filter(([each]) => each !== id)));
    return true;
  }

  /**
   * @param listener called after each change; what it throws is the platform's to report
   * @returns how to unsubscribe
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

/** One listener that fails keeps no other from hearing, and ends no execution. */
function tellSafely(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
