/** Answers a request with a stream of events, or with an error if it was refused before it became one. */
import type { Response } from 'express';
import { sseWriter } from './sse.ts';
import type { Frame } from './sse.ts';
import type { CallContext } from './call-context.ts';

/** How one binding writes its streams. */
export interface StreamFormat<Event> {
  frame(event: Event): Frame;
  /** The last frame of a stream that broke off. */
  errorFrame(error: unknown): Frame;
  /** The whole answer to a request that was refused. */
  refuse(error: unknown): void;
}

interface StreamAnswer<Event> {
  events: AsyncGenerator<Event, void, undefined>;
  context: CallContext;
  format: StreamFormat<Event>;
  heartbeatMs: number;
  /** After how long a client that lost the stream is to come again, in milliseconds; for the client to choose if left out. */
  retryMs?: number;
}

/** Pulls the events one by one, as fast as their source gives them. Resolves when the stream has ended, for whatever reason; never rejects. */
export async function answerWithStream<Event>(
  response: Response,
  answer: StreamAnswer<Event>,
): Promise<void> {
  const { events, context, format } = answer;
  const first = events.next();
  try {
    // A refusal comes before acceptance; an event may come long after.
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
