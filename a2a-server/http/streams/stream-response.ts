/** Answers a request with a stream of events. A refusal before the start of the stream is an error response. */
import type { Response } from 'express';
import { sseWriter } from './sse.ts';
import type { Frame } from './sse.ts';
import type { CallContext } from '../auth/call-context.ts';

/** The stream format of one binding. */
export interface StreamFormat<Event> {
  frame(event: Event): Frame;
  /** Builds the last frame of a failed stream. */
  errorFrame(error: unknown): Frame;
  /** Sends the complete response to a refused request. */
  refuse(error: unknown): void;
}

interface StreamAnswer<Event> {
  events: AsyncGenerator<Event, void, undefined>;
  context: CallContext;
  format: StreamFormat<Event>;
  heartbeatMs: number;
  /** The reconnection time for the client, in milliseconds. If absent, the client chooses. */
  retryMs?: number;
}

/** Sends the events one by one. Resolves when the stream ends for any reason. Never rejects. */
export async function respondWithStream<Event>(
  response: Response,
  answer: StreamAnswer<Event>,
): Promise<void> {
  const { events, context, format } = answer;
  const first = events.next();
  try {
    // A refusal comes before `accepted` resolves. The first event may come much later.
    await Promise.race([first, context.accepted]);
  } catch (error) {
    format.refuse(error);
    return;
  }
  const writer = sseWriter(response, answer);
  try {
    for (let next = await first; next.done !== true; next = await events.next()) {
      writer.send(format.frame(next.value));
      if (response.destroyed) break;
    }
  } catch (error) {
    writer.send(format.errorFrame(error));
  } finally {
    writer.end();
    await events.return();
  }
}
