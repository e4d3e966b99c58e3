/** Parses a stream of server-sent events (WHATWG HTML §9.2). */
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import { ClientError, unreachable } from './client-error.ts';

/** The maximum length of one event in characters. This package's server sends a whole task as its largest event. */
const MAX_EVENT = 64 * 1024 * 1024;

export interface StreamReading {
  /** If nothing arrives for this time, not even a comment, the stream counts as dead. Milliseconds. */
  quietMs: number;
  /**
   * Stops the reading when it aborts. The request's own signal is not enough: if it aborts just as the response ends, Node's
   * fetch neither ends nor rejects a pending read.
   */
  signal: AbortSignal;
}

/**
 * Ends when the stream ends. A caller that leaves early closes the connection.
 * @throws ClientError unreachable, if the connection breaks or `signal` aborts
 */
export async function* eventsOf(
  response: Response,
  reading: StreamReading,
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
      if (overflow) throw new ClientError('malformed-answer', 'The server sent an event that is too large.');
    }
  } finally {
    // The connection may be closed already.
    await reader.cancel().catch(() => undefined);
  }
}

/** @returns undefined at the end of the stream */
async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { quietMs, signal }: StreamReading,
  url: string,
): Promise<Uint8Array | undefined> {
  let ended: string | undefined;
  // `cancel` makes a pending read return.
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
