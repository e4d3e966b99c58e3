/**
 * Writes server-sent events to a response.
 *
 * - S3 it buffers at most one batch besides the socket's buffer. The source of the events waits while the socket is full
 *   (`Caller.full`), and events are pulled one by one.
 * - E4 a closed or reset socket only ends the writing.
 * - Frames of one tick share one write. The first frame is written at once.
 */
import type { ServerResponse } from 'node:http';
import { SSE_HEADERS } from '@a2a-js/sdk';

/** The batch size in characters. A smaller batch is written at the end of the tick. */
const BATCH = 64 * 1024;

/** WHATWG HTML §9.2.7: a comment about every 15 s keeps proxies from closing the connection. */
export const HEARTBEAT_MS = 15_000;

export interface Frame {
  /** One line of JSON. */
  data: string;
  id?: string | undefined;
  /** The event type. The default is `message`. */
  event?: string;
}

interface SseWriter {
  send(frame: Frame): void;
  /** Writes the rest and ends the response. */
  end(): void;
}

/** Starts the response. The headers are sent at once, before the first frame. */
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
    // If data is waiting for the client, it needs no heartbeat.
    if (batch === '' && isOpen(response) && !response.writableNeedDrain) response.write(':\n\n');
  }, heartbeatMs);
  const stopHeartbeat = (): void => clearInterval(heartbeat);
  response.once('close', stopHeartbeat);
  // On a reset during a write, `close` follows and does the rest.
  response.on('error', stopHeartbeat);

  for (const [name, value] of Object.entries(SSE_HEADERS))
    // RFC 9112 §9.6: the client also decides whether the connection stays open. Node sets this header correctly.
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
