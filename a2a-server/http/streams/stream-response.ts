import type { Response } from 'express';
import { startSseResponse } from './sse.ts';
import type { SseFrame } from './sse.ts';
import type { A2aRequestContext } from '../auth/a2a-request-context.ts';

export interface StreamFormat<Event> {
  frame(event: Event): SseFrame;
  errorFrame(error: unknown): SseFrame;
  refuse(error: unknown): void;
}

interface StreamAnswer<Event> {
  events: AsyncGenerator<Event, void, undefined>;
  context: A2aRequestContext;
  format: StreamFormat<Event>;
  heartbeatMs: number;
  /** The delay before a client reconnects, in milliseconds. Without this value, the client chooses. */
  retryMs?: number;
}

/**
 * Sends the events one by one. A request that is refused gets an error response instead of a stream. Resolves when the
 * stream ends for any reason. Never rejects.
 */
export async function respondWithStream<Event>(
  response: Response,
  answer: StreamAnswer<Event>,
): Promise<void> {
  const { events, context, format } = answer;
  const first = events.next();
  try {
    // The response starts as soon as the request is accepted, because the first event may occur much later. A refusal
    // occurs before `accepted` resolves.
    await Promise.race([first, context.accepted]);
  } catch (error) {
    format.refuse(error);
    return;
  }
  const writer = startSseResponse(response, answer);
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

/**
 * Answers HEAD for a stream (RFC 9110 §9.3.2): the headers of the stream, without a body. A stream without a body would
 * keep its connection until the task ends. Reads the first event, so that a refused request gets its status.
 * @throws the error that refuses the request
 */
export async function respondToStreamHead(
  response: Response,
  events: AsyncGenerator<unknown, void, undefined>,
): Promise<void> {
  await events.next();
  await events.return();
  response.type('text/event-stream').end();
}
