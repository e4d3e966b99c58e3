/** Reads an A2A stream event by event and keeps the events it has read. */
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

  /** The next event, or undefined when the server has ended the stream. Throws if the connection broke. */
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

  /** Reads until an event matches. @returns that event. @throws if the stream ends before */
  async until(fits: (event: StreamEvent) => boolean): Promise<StreamEvent> {
    for (let event = await this.next(); event !== undefined; event = await this.next())
      if (fits(event)) return event;
    throw new Error(`the stream ended after ${this.seen.map(({ data }) => data).join('\n')}`);
  }

  /** Reads to the end of the stream. @returns all events */
  async rest(): Promise<StreamEvent[]> {
    while ((await this.next()) !== undefined);
    return this.seen;
  }

  /** Reads until the task waits for decisions. */
  parked(): Promise<StreamEvent> {
    return this.until((event) => event.pending.length > 0);
  }

  /** Reads until a tool has printed this text. @returns the id of the tool execution */
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
