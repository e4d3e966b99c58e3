/**
 * A task that a client started or attached to.
 *
 * Invariants
 * - It settles exactly once: with the report of an ended task, or with an error. Then it has no listener and is no
 *   longer active (R51).
 * - A second cancel sends no second request. If cancel and completion race, the server decides. The report has the
 *   outcome.
 */
import { ClientError } from './client-error.ts';
import { newId } from './new-id.ts';
import type { Progress } from './progress.ts';
import type { TaskTransport } from './task-transport.ts';
import type { TaskReport } from './task-report.ts';
import type { Decision, Grants } from './task-request.ts';

export interface ExecutionOptions {
  /** Cancels the task when it aborts. If `signal.reason` is text, it is the reason of the cancel. */
  signal?: AbortSignal | undefined;
  /** Called for each event. If this callback throws, the execution rejects with that error. The task continues. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** What to do with the task when the page unloads. The default is `detach`: the task continues. */
  onUnload?: 'detach' | 'cancel' | undefined;
}

export class Execution {
  /** A random id. Only this client uses it. */
  readonly id: string = newId();
  /**
   * The report of the ended task: completed, cancelled, failed or rejected by the agent. A failed task does not reject.
   * The promise rejects with a ClientError if the outcome is unknown: refused, unreachable, detached, aborted before the
   * request was sent, or a task that the agent does not know any more (`UNKNOWN_TASK`).
   */
  readonly result: Promise<TaskReport>;
  readonly #line: TaskTransport;
  readonly #options: ExecutionOptions;
  readonly #reading = new AbortController();
  #state: 'active' | 'settled' = 'active';
  #canceling: Promise<void> | undefined;
  /** True if this client sent a cancel while the page unloaded. */
  #left = false;
  /** The error because of which this client stopped reading; undefined if it still reads. */
  #ended: { error: unknown } | undefined;

  /** @param onSettled called once, before `result` settles */
  constructor(line: TaskTransport, options: ExecutionOptions, onSettled: (execution: Execution) => void) {
    this.#line = line;
    this.#options = options;
    this.result = this.#run(onSettled);
    // A caller that ignores `result` must not cause an unhandled rejection.
    this.result.catch(() => undefined);
  }

  /** The current state of the task; undefined until the server has sent the task id. */
  get report(): TaskReport | undefined {
    return this.#line.report;
  }

  get cancelsOnUnload(): boolean {
    return this.#options.onUnload === 'cancel' && !this.#left;
  }

  /** Cancels the task and aborts its tools. Has no effect after the task has ended. @throws ClientError */
  cancel(reason = 'cancelled by the client'): Promise<void> {
    if (this.#state === 'settled') return Promise.resolve();
    // The result may settle first, for example if the task never started. Then this call does not wait for the cancel.
    this.#canceling ??= Promise.race([this.#line.cancel(reason), this.result.then(() => undefined)]).catch(
      (error: unknown) => {
        this.#canceling = undefined;
        throw error;
      },
    );
    return this.#canceling;
  }

  /** Cancels while the page unloads. */
  cancelLeaving(reason: string): void {
    this.#left = true;
    this.#line.cancelLeaving(reason);
  }

  /** Stops listening. The task continues, and `attach` can follow it again. */
  detach(): void {
    this.#end(new ClientError('detached', 'This client no longer listens. The task continues.'));
  }

  /**
   * Sends decisions on pending actions. Each decision carries the code of the content that this client showed (D2).
   * @throws ClientError
   */
  decide(...decisions: readonly Decision[]): Promise<void> {
    return this.#line.decide(decisions);
  }

  /**
   * Revokes grants that decisions gave. Later calls then ask again. By default, it revokes all grants. @throws
   * ClientError
   */
  revoke(grants: Grants = 'all'): Promise<void> {
    return this.#line.revoke(grants);
  }

  /** Answers the agent's question, or sends a message for its next turn. @throws ClientError */
  say(text: string): Promise<void> {
    return this.#line.say(text);
  }

  async #run(onSettled: (execution: Execution) => void): Promise<TaskReport> {
    const { signal } = this.#options;
    const aborted = (): void => {
      this.cancel(typeof signal?.reason === 'string' ? signal.reason : undefined).catch((error: unknown) =>
        this.#end(error),
      );
    };
    try {
      // The caller needs the execution object before its first progress.
      await Promise.resolve();
      if (signal?.aborted === true)
        throw new ClientError('aborted', 'The task was aborted before it was sent. Nothing has run.');
      if (this.#ended !== undefined) throw this.#ended.error;
      signal?.addEventListener('abort', aborted);
      return await this.#line.follow(this.#tell, this.#reading.signal);
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
