/** A reader that follows the task of a flow from its first event, over any number of connections. */
import { setTimeout as pause } from 'node:timers/promises';
import type { StreamEvent } from '../support/wire-event.ts';
import { Disconnected, type A2aClient } from './a2a-client.ts';
import { must } from './findings.ts';
import { findTasks } from './flow-checks.ts';
import type { Flow } from './flow.ts';
import { TaskReader } from './task-reader.ts';

/** The stream of an ended task ends within this time, in milliseconds. */
const LAST_WORDS_MS = 30_000;
const LOOK_MS = 10;

export interface FlowReaderOptions {
  flow: Flow;
  client: () => Promise<A2aClient>;
  onEvent?: (event: StreamEvent) => void;
  /** The pause before the next attempt, in milliseconds. */
  lookMs?: number;
  /** Returns true for an error after which the reader tries again. By default only for a cut connection. */
  isTemporary?: (error: unknown) => boolean;
}

const wasCut = (error: unknown): boolean => error instanceof Disconnected;

export class FlowReader {
  #reader: TaskReader | undefined;
  readonly #options: FlowReaderOptions;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(options: FlowReaderOptions) {
    this.#options = options;
    this.#done = this.#follow();
    // The caller of `toEnd` gets the error. This handler only prevents an unhandled rejection.
    this.#done.catch(() => undefined);
  }

  get seen(): readonly StreamEvent[] {
    return this.#reader?.seen ?? [];
  }

  /** Reads the rest of a task that has ended. @throws Violation */
  async toEnd(): Promise<void> {
    const late = pause(LAST_WORDS_MS, 'late' as const, { ref: false });
    const end = await Promise.race([this.#done, late]);
    must(end !== 'late', `the stream of an ended task has not ended after ${this.seen.length} events`);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done.catch(() => undefined);
  }

  async #follow(): Promise<void> {
    const { flow, client, onEvent, lookMs = LOOK_MS, isTemporary = wasCut } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const now = await client();
        if (this.#reader === undefined) {
          const taskId = flow.taskId ?? (await findTasks(now, flow))[0]?.taskId;
          if (taskId !== undefined) this.#reader = new TaskReader(taskId, onEvent);
        }
        if (this.#reader !== undefined) {
          await this.#reader.read(now, { signal });
          // Only the stream of an ended task ends by itself.
          return;
        }
      } catch (error) {
        if (!isTemporary(error)) throw error;
      }
      await pause(lookMs);
    }
  }
}
