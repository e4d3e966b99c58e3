/** Parses a stream of server-sent events (WHATWG HTML §9.2), in Node and browsers. */
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';

/**
 * The maximum length of one event in characters. The largest event of this package's A2A server contains a whole task.
 */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;

/** Thrown if one event of the stream exceeds the maximum length. */
export class EventTooLargeError extends Error {
  override readonly name = 'EventTooLargeError';
}

export interface StreamReadingOptions {
  /**
   * The maximum time without data, after which reading fails. A comment counts as data. If this field is absent, there
   * is no limit.
   */
  quietMs?: number;
  /**
   * If this signal aborts, the reading stops. The signal of the request is not enough: if it aborts exactly when the
   * response ends, Node's fetch neither ends nor rejects a pending read.
   */
  signal: AbortSignal;
}

/**
 * Yields the events until the stream ends. If the caller leaves the loop, the connection closes.
 * @throws EventTooLargeError
 * @throws Error if the connection breaks, the stream has no data for too long, or `signal` aborts
 */
export async function* serverSentEventsOf(
  response: Response,
  reading: StreamReadingOptions,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let events: EventSourceMessage[] = [];
  let overflow = false;
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onError: (error) => (overflow ||= error.type === 'max-buffer-size-exceeded'),
    maxBufferSize: MAX_EVENT_CHARACTERS,
  });
  try {
    for (;;) {
      const chunk = await readWithin(reader, reading);
      if (chunk === undefined) return;
      parser.feed(decoder.decode(chunk, { stream: true }));
      const ready = events;
      events = [];
      yield* ready;
      if (overflow) throw new EventTooLargeError('The server sent an event that is too large.');
    }
  } finally {
    // The error of `cancel` is ignored, because the connection may already be closed.
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads one chunk. Returns undefined at the end of the stream. */
async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { quietMs, signal }: StreamReadingOptions,
): Promise<Uint8Array | undefined> {
  let ended: Error | undefined;
  // Ends a pending read.
  const end = (why: Error): void => {
    ended ??= why;
    void reader.cancel().catch(() => undefined);
  };
  const aborted = (): void => end(new DOMException('The reading was aborted', 'AbortError'));
  const timer =
    quietMs === undefined
      ? undefined
      : setTimeout(() => end(new Error(`nothing came for ${quietMs} ms`)), quietMs);
  signal.addEventListener('abort', aborted);
  try {
    if (signal.aborted) aborted();
    const { value } = await reader.read();
    if (ended !== undefined) throw ended;
    return value;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', aborted);
  }
}
