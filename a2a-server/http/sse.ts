/**
 * Server-sent events over one response.
 *
 * - S3 nothing is held beyond one batch and the socket's own buffer. Whoever makes the events waits while the socket is
 *   full (`Caller.full`), and they are pulled one by one.
 * - E4 a socket that closes, or is reset, ends the writing and nothing else.
 * - Frames sent in one go share a write. The first goes out by itself, at once.
 */
import type { ServerResponse } from 'node:http';
import { SSE_HEADERS } from '@a2a-js/sdk';

/** A batch is written when it has grown to so many characters, or at the end of the tick. */
const BATCH = 64 * 1024;

/** WHATWG HTML §9.2.7: a comment every 15 s or so keeps proxies from dropping the connection. */
export const HEARTBEAT_MS = 15_000;

export interface Frame {
  /** One line of JSON. */
  data: string;
  id?: string | undefined;
  /** The event type; `message` when absent. */
  event?: string;
}

export interface SseWriter {
  send(frame: Frame): void;
  /** Writes what is left and ends the response. */
  end(): void;
}

/** Starts the response: its headers go out now, whenever the first frame comes. */
export function sseWriter(
  response: ServerResponse,
  { heartbeatMs, retryMs }: { heartbeatMs: number; retryMs?: number },
): SseWriter {
  let batch = '';
  let flushing = false;
  let first = true;

  const flush = (): void => {
    flushing = false;
    const text = batch;
    batch = '';
    if (text !== '' && isOpen(response)) response.write(text);
  };
  const heartbeat = setInterval(() => {
    // A client that has data waiting for it needs no sign of life.
    if (batch === '' && isOpen(response) && !response.writableNeedDrain) response.write(':\n\n');
  }, heartbeatMs);
  const stopHeartbeat = (): void => clearInterval(heartbeat);
  response.once('close', stopHeartbeat);
  // A reset while something is being written: `close` follows, and that is all there is to do.
  response.on('error', stopHeartbeat);

  for (const [name, value] of Object.entries(SSE_HEADERS))
    // RFC 9112 §9.6: whether the connection outlives the response is for the client to say too; Node knows what it said.
    if (name !== 'Connection') response.setHeader(name, value);
  response.statusCode = 200;
  response.flushHeaders();
  if (retryMs !== undefined) response.write(`retry: ${retryMs}\n\n`);

  return {
    send(frame) {
      batch += format(frame);
      if (first || batch.length >= BATCH) {
        first = false;
        flush();
      } else if (!flushing) {
        flushing = true;
        process.nextTick(flush);
      }
    },
    end() {
      stopHeartbeat();
      flush();
      if (isOpen(response)) response.end();
    },
  };
}

function format({ data, id, event }: Frame): string {
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

function isOpen(response: ServerResponse): boolean {
  return !response.destroyed && !response.writableEnded;
}
