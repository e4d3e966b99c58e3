/** A reader of one task. After each cut it continues from its last position. */
import { readEvent, type StreamEvent } from '../support/wire-event.ts';
import type { A2aClient, Reading } from './a2a-client.ts';
import { must } from './findings.ts';

export class TaskReader {
  readonly taskId: string;
  readonly seen: StreamEvent[] = [];
  readonly #onEvent: (event: StreamEvent) => void;

  constructor(taskId: string, onEvent: (event: StreamEvent) => void = () => undefined) {
    this.taskId = taskId;
    this.#onEvent = onEvent;
  }

  /** The seq of the last event. */
  get position(): number {
    return this.seen.at(-1)?.seq ?? 0;
  }

  /** Reads one connection to its end. @throws Disconnected if it was cut; the reader keeps the events before the cut */
  async read(client: A2aClient, reading: Omit<Reading, 'lastEventId'> = {}): Promise<void> {
    const frames = client.subscribe(this.taskId, { ...reading, lastEventId: String(this.position) });
    for await (const { id, data, text } of frames) this.#take(readEvent(data, text), id);
  }

  /** S1: checks the order, and that no event repeats. `mustBeGapFree` finds gaps later. */
  #take(event: StreamEvent, id: string | undefined): void {
    const { seq, taskId } = event;
    must(id === String(seq), `an event of position ${seq} came with the SSE id ${id}`);
    must(taskId === this.taskId, `an event of task ${taskId} came on the stream of ${this.taskId}`);
    must(
      seq > this.position,
      () => `the stream of ${taskId} went back: ${seq} came after ${this.position} (repeat)`,
    );
    this.seen.push(event);
    this.#onEvent(event);
  }
}

/** Reads the whole journal, as far as A2A shows it. */
export async function wholeJournal(client: A2aClient, taskId: string): Promise<readonly StreamEvent[]> {
  const reader = new TaskReader(taskId);
  await reader.read(client);
  return reader.seen;
}
