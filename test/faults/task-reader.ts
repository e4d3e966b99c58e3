/** A reader of one task that is cut off again and again, and goes on from where it was. */
import { readEvent, type StreamEvent } from '../support/wire-event.ts';
import type { A2aClient, Reading } from './a2a-client.ts';
import { must } from './findings.ts';

export class TaskReader {
  readonly taskId: string;
  /** All that came, over all its connections. */
  readonly seen: StreamEvent[] = [];
  readonly #onEvent: (event: StreamEvent) => void;

  constructor(taskId: string, onEvent: (event: StreamEvent) => void = () => undefined) {
    this.taskId = taskId;
    this.#onEvent = onEvent;
  }

  /** The last position it has seen. */
  get position(): number {
    return this.seen.at(-1)?.seq ?? 0;
  }

  /** One connection, to its end. @throws Disconnected when it was cut; what came before is kept. */
  async read(client: A2aClient, reading: Omit<Reading, 'lastEventId'> = {}): Promise<void> {
    const frames = client.subscribe(this.taskId, { ...reading, lastEventId: String(this.position) });
    for await (const { id, data, text } of frames) this.#take(readEvent(data, text), id);
  }

  /** S1: no repeat, in order. Gaps are seen when all has been read. */
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

/** The whole journal, as A2A shows it. */
export async function wholeJournal(client: A2aClient, taskId: string): Promise<readonly StreamEvent[]> {
  const reader = new TaskReader(taskId);
  await reader.read(client);
  return reader.seen;
}
