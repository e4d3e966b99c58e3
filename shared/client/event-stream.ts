/** The events of a stream (WHATWG HTML §9.2), as they come. */
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import { ClientError, unreachable } from './client-error.ts';

/** Characters of one event. The largest that a server of ours sends is a whole task. */
const MAX_EVENT = 64 * 1024 * 1024;

/**
 * Ends when the stream does. Leaving it early lets go of the connection.
 * @param quietMs a stream from which nothing comes for so long, not even a comment, is taken for dead
 * @throws ClientError unreachable, when the connection breaks
 */
export async function* eventsOf(
  response: Response,
  quietMs: number,
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
      const chunk = await readWithin(reader, quietMs, response.url);
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
  quietMs: number,
  url: string,
): Promise<Uint8Array | undefined> {
  let quiet = false;
  const timer = setTimeout(() => {
    quiet = true;
    // What waits for a chunk is told that there is none.
    void reader.cancel().catch(() => undefined);
  }, quietMs);
  try {
    const { value } = await reader.read();
    if (quiet) throw new Error(`nothing came for ${quietMs} ms`);
    return value;
  } catch (error) {
    throw unreachable(url, error);
  } finally {
    clearTimeout(timer);
  }
}
