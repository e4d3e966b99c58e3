/** An A2A stream as its reader has it: what has come so far, and how to read on. */
import { z } from 'zod';
import type { RawConnection, RawResponse } from './raw-connection.ts';
import { sseFrames, type SseFrame } from './sse-frame.ts';
import { readEvent, type StreamEvent } from './wire-event.ts';

const answer = z.object({ result: z.unknown() });

export class EventStream {
  readonly connection: RawConnection;
  readonly seen: StreamEvent[] = [];
  readonly #frames: AsyncGenerator<SseFrame, void, undefined>;

  constructor(connection: RawConnection, response: RawResponse) {
    this.connection = connection;
    this.#frames = sseFrames(response.body);
  }

  /** The next event, or undefined when the server has ended the stream. Throws when the connection broke off. */
  async next(): Promise<StreamEvent | undefined> {
    const { value: frame } = await this.#frames.next();
    if (!frame) return undefined;
    if (frame.event !== undefined) throw new Error(`the stream broke off: ${frame.data}`);
    const event = readEvent(answer.parse(JSON.parse(frame.data)).result, frame.data);
    if (frame.id !== String(event.seq))
      throw new Error(`SSE id ${frame.id} is not the event's seq: ${frame.data}`);
    this.seen.push(event);
    return event;
  }

  /** Reads on to the first event that fits. @throws when the stream ends before. */
  async until(fits: (event: StreamEvent) => boolean): Promise<StreamEvent> {
    for (let event = await this.next(); event !== undefined; event = await this.next())
      if (fits(event)) return event;
    throw new Error(`the stream ended after ${this.seen.map(({ data }) => data).join('\n')}`);
  }

  /** Reads to the stream's own end. @returns all that has come. */
  async rest(): Promise<StreamEvent[]> {
    while ((await this.next()) !== undefined);
    return this.seen;
  }

  /** Reads on until the task waits for decisions. */
  parked(): Promise<StreamEvent> {
    return this.until((event) => event.pending.length > 0);
  }

  /** Reads on until this text has come out of a tool. @returns the id of the tool execution. */
  async output(text: string): Promise<string> {
    let toolId = '';
    await this.until(({ activity }) => {
      if (activity?.type !== 'tool.output') return false;
      toolId = activity.toolId;
      return activity.text.includes(text);
    });
    return toolId;
  }
}
