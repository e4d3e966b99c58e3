/** The events of a stream (WHATWG HTML §9.2), as they come. */
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import { ClientError, unreachable } from './client-error.ts';

/** Characters of one event. The largest that a server of ours sends is a whole task. */
const MAX_EVENT = 64 * 1024 * 1024;

export interface Reading {
  /** A stream from which nothing comes for so long, not even a comment, is taken for dead; in milliseconds. */
  quietMs: number;
  /**
   * Ends the reading when it aborts. That of the request is not enough: where it aborts as the answer ends, Node's fetch
   * leaves a reader waiting that is told neither.
   */
  signal: AbortSignal;
}

/**
 * Ends when the stream does. Leaving it early lets go of the connection.
 * @throws ClientError unreachable, when the connection breaks or the reading is ended
 */
export async function* eventsOf(
  response: Response,
  reading: Reading,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let events: EventSourceMessage[] = [];
  let overflow = false;
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onError: (error) => (overflow ||= error.type === 'max-buffer-size-exceeded'),
    maxBufferSize: MAX_EVENT,
  });
  try {
    for (;;) {
      const chunk = await readWithin(reader, reading, response.url);
      if (chunk === undefined) return;
      parser.feed(decoder.decode(chunk, { stream: true }));
      const ready = events;
      events = [];
      yield* ready;
      if (overflow) throw new ClientError('malformed-answer', 'The server sent an event without an end.');
    }
  } finally {
    // The connection may be gone already; then there is nothing to let go of.
    await reader.cancel().catch(() => undefined);
  }
}

/** @returns undefined at the end */
async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { quietMs, signal }: Reading,
  url: string,
): Promise<Uint8Array | undefined> {
  let ended: string | undefined;
  // What waits for a chunk is told that there is none.
  const end = (why: string): void => {
    ended ??= why;
    void reader.cancel().catch(() => undefined);
  };
  const aborted = (): void => end('the reading was ended');
  const timer = setTimeout(() => end(`nothing came for ${quietMs} ms`), quietMs);
  signal.addEventListener('abort', aborted);
  try {
    if (signal.aborted) aborted();
    const { value } = await reader.read();
    if (ended !== undefined) throw new Error(ended);
    return value;
  } catch (error) {
    throw unreachable(url, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', aborted);
  }
}
