/**
 * One task that a client has started, or has come back to.
 *
 * Invariants
 * - It settles exactly once, with the report of a task that has ended or with an error; from then on it holds no listener,
 *   and is no longer among the active ones (R51).
 * - Cancelling twice asks once. Whether a cancel came before the task's own end is for the server to say: the report does.
 */
import { ClientError } from './client-error.ts';
import { newId } from './new-id.ts';
import type { Progress } from './progress.ts';
import type { TaskLine } from './task-line.ts';
import type { TaskReport } from './task-report.ts';
import type { Decision } from './task-request.ts';

export interface ExecutionOptions {
  /** Cancels the task when it aborts, with its reason where that is a text. */
  signal?: AbortSignal | undefined;
  /** What it throws settles the execution; the task goes on. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** What a page that unloads does to the task: leave it alone (the default), or end it. */
  onUnload?: 'detach' | 'cancel' | undefined;
}

export class Execution {
  /** This client's own name for it. */
  readonly id: string = newId();
  /**
   * How the task ended: completed, canceled or failed. Nothing is thrown for a task that failed.
   * Rejects with a ClientError when it cannot be known: refused, unreachable for long, detached, aborted before it was sent.
   */
  readonly result: Promise<TaskReport>;
  readonly #line: TaskLine;
  readonly #options: ExecutionOptions;
  readonly #reading = new AbortController();
  #state: 'active' | 'settled' = 'active';
  #canceling: Promise<void> | undefined;
  /** Its page has gone, and with its last breath has canceled it. */
  #left = false;
  /** What ended the reading from this side. */
  #ended: { error: unknown } | undefined;

  /** @param onSettled called once, before anyone who waits for the result goes on */
  constructor(line: TaskLine, options: ExecutionOptions, onSettled: (execution: Execution) => void) {
    this.#line = line;
    this.#options = options;
    this.result = this.#run(onSettled);
    // Whoever does not wait for it has said that they do not want to know.
    this.result.catch(() => undefined);
  }

  /** Where the task stands; undefined until the server has named it. */
  get report(): TaskReport | undefined {
    return this.#line.report;
  }

  get cancelsOnUnload(): boolean {
    return this.#options.onUnload === 'cancel' && !this.#left;
  }

  /** Ends the task, and with it every tool it runs. A no-op once it has ended. @throws ClientError */
  cancel(reason = 'canceled by the client'): Promise<void> {
    if (this.#state === 'settled') return Promise.resolve();
    // There is nothing to wait for once it has settled, be it that it never began.
    this.#canceling ??= Promise.race([this.#line.cancel(reason), this.result.then(() => undefined)]).catch(
      (error: unknown) => {
        this.#canceling = undefined;
        throw error;
      },
    );
    return this.#canceling;
  }

  /** The same in the last moment of a page. */
  cancelLeaving(reason: string): void {
    this.#left = true;
    this.#line.cancelLeaving(reason);
  }

  /** Stops listening. The task goes on; `attach` comes back to it. */
  detach(): void {
    this.#end(new ClientError('detached', 'This client no longer listens. The task goes on.'));
  }

  /** Decides pending actions, each bound to what this client was shown of it (D2). @throws ClientError */
  decide(...decisions: readonly Decision[]): Promise<void> {
    return this.#line.decide(decisions);
  }

  /** Answers the agent's question, or tells it something for its next turn. @throws ClientError */
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
      // Whoever began it knows it before anything of it happens.
      await Promise.resolve();
      if (signal?.aborted === true)
        throw new ClientError('aborted', 'Taken back before it was sent; nothing has happened.');
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
