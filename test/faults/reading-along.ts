/** Somebody who follows a flow's task from its first event, over as many connections as it takes. */
import { setTimeout as pause } from 'node:timers/promises';
import type { StreamEvent } from '../support/wire-event.ts';
import { Disconnected, type A2aClient } from './a2a-client.ts';
import { must } from './findings.ts';
import { findTasks } from './flow-checks.ts';
import type { Flow } from './flow.ts';
import { TaskReader } from './task-reader.ts';

/** The stream of an ended task has ended by then, in milliseconds. */
const LAST_WORDS_MS = 30_000;
const LOOK_MS = 10;

export interface ReadingAlongOptions {
  flow: Flow;
  /** A client of the server as it is now. */
  client: () => Promise<A2aClient>;
  onEvent?: (event: StreamEvent) => void;
  /** Between two looks for what is not there yet, in milliseconds. */
  lookMs?: number;
}

export class ReadingAlong {
  #reader: TaskReader | undefined;
  readonly #options: ReadingAlongOptions;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(options: ReadingAlongOptions) {
    this.#options = options;
    this.#done = this.#follow();
    // Whoever asks for the end is told.
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
    const { flow, client, onEvent, lookMs = LOOK_MS } = this.#options;
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
          // The server ends the stream of a task that has ended, and of none other.
          return;
        }
      } catch (error) {
        if (!(error instanceof Disconnected)) throw error;
      }
      await pause(lookMs);
    }
  }
}
