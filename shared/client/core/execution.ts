/**
 * A task that a client started or attached to.
 *
 * - The execution settles exactly once, with the report of the ended task or with an error. R51: after that, it has no
 *   listener and is no longer active.
 * - A second cancel sends no second request, unless the first cancel has failed. If the task completes at the same time
 *   as a cancel, the server decides which came first. The report names that outcome.
 */
import { ClientError } from './client-error.ts';
import { newId } from './new-id.ts';
import type { Progress } from './progress.ts';
import type { TaskTransport } from './task-transport.ts';
import type { TaskReport } from './task-report.ts';
import type { Decision, GrantsToRevoke } from './task-request.ts';

export interface ExecutionOptions {
  /** If this signal aborts, the client cancels the task. If `signal.reason` is text, it is the reason of the cancel. */
  signal?: AbortSignal | undefined;
  /**
   * Receives each progress event. If this callback throws, the execution rejects with that error, and the task
   * continues.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * What happens to the task when the page unloads: `detach` lets it continue, `cancel` cancels it. The default is
   * `detach`.
   */
  onUnload?: 'detach' | 'cancel' | undefined;
}

export class Execution {
  /** A random id that only this client uses. */
  readonly id: string = newId();
  /**
   * The report of the ended task. This promise also resolves if the task failed, was cancelled or was rejected. It
   * rejects with a ClientError in these cases:
   * - The connection is lost, and no retry succeeds.
   * - The caller calls `detach`.
   * - The signal aborts before the first request.
   * - The agent no longer has the task (`UNKNOWN_TASK`).
   */
  readonly result: Promise<TaskReport>;
  readonly #transport: TaskTransport;
  readonly #options: ExecutionOptions;
  readonly #reading = new AbortController();
  #state: 'active' | 'settled' = 'active';
  #canceling: Promise<void> | undefined;
  /** True if this client has sent a cancel because the page unloaded. */
  #left = false;
  /** The error that made this execution stop reading the task's events early. Undefined if there is none. */
  #ended: { error: unknown } | undefined;

  /** @param onSettled called once, before `result` settles */
  constructor(
    transport: TaskTransport,
    options: ExecutionOptions,
    onSettled: (execution: Execution) => void,
  ) {
    this.#transport = transport;
    this.#options = options;
    this.result = this.#run(onSettled);
    // Without this handler, a caller that ignores `result` could cause an unhandled rejection.
    this.result.catch(() => undefined);
  }

  /** The current state of the task. Undefined until the server has sent the task id. */
  get report(): TaskReport | undefined {
    return this.#transport.report;
  }

  get cancelsOnUnload(): boolean {
    return this.#options.onUnload === 'cancel' && !this.#left;
  }

  /** Cancels the task and aborts its tools. A cancel after the end of the task has no effect. @throws ClientError */
  cancel(reason = 'cancelled by the client'): Promise<void> {
    if (this.#state === 'settled') return Promise.resolve();
    // `result` may settle first, e.g. if the task never started. This method then does not wait for the cancel request.
    this.#canceling ??= Promise.race([
      this.#transport.cancel(reason),
      this.result.then(() => undefined),
    ]).catch((error: unknown) => {
      this.#canceling = undefined;
      throw error;
    });
    return this.#canceling;
  }

  cancelLeaving(reason: string): void {
    this.#left = true;
    this.#transport.cancelLeaving(reason);
  }

  /** Stops following the task. The task continues, and `attach` can follow it again. */
  detach(): void {
    this.#end(new ClientError('detached', 'This client no longer listens. The task continues.'));
  }

  /**
   * Sends decisions on pending actions. D2: a decision is valid only for what the person saw. Each decision therefore
   * contains the code of the content that this client showed.
   * @throws ClientError
   */
  decide(...decisions: readonly Decision[]): Promise<void> {
    return this.#transport.decide(decisions);
  }

  /**
   * Revokes grants (decisions that also cover later tool calls). Later calls then need a decision again. The default is
   * all grants of the task.
   * @throws ClientError
   */
  revoke(grants: GrantsToRevoke = 'all'): Promise<void> {
    return this.#transport.revoke(grants);
  }

  /** Answers the agent's question, or sends a message for its next turn. @throws ClientError */
  say(text: string): Promise<void> {
    return this.#transport.say(text);
  }

  async #run(onSettled: (execution: Execution) => void): Promise<TaskReport> {
    const { signal } = this.#options;
    const aborted = (): void => {
      this.cancel(typeof signal?.reason === 'string' ? signal.reason : undefined).catch((error: unknown) =>
        this.#end(error),
      );
    };
    try {
      // The first progress event must come after the constructor has returned, because the callback may use the
      // execution.
      await Promise.resolve();
      if (signal?.aborted === true)
        throw new ClientError('aborted', 'The task was aborted before it was sent. Nothing has run.');
      if (this.#ended !== undefined) throw this.#ended.error;
      signal?.addEventListener('abort', aborted);
      return await this.#transport.follow(this.#tell, this.#reading.signal);
    } catch (error) {
      throw this.#ended === undefined ? error : this.#ended.error;
    } finally {
      signal?.removeEventListener('abort', aborted);
      this.#state = 'settled';
      onSettled(this);
    }
  }

  readonly #tell = (progress: Progress): void => {
    if (this.#ended !== undefined) return;
    try {
      this.#options.onProgress?.(progress);
    } catch (error) {
      this.#end(error);
    }
  };

  #end(error: unknown): void {
    this.#ended ??= { error };
    this.#reading.abort();
  }
}
