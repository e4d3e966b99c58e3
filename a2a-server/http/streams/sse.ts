/**
 * Writes server-sent events to a response.
 *
 * - S3: this file buffers at most one batch, besides the socket's buffer. It takes events one by one. The source of the
 *   events waits while the socket is full (`Caller.full`).
 * - E4: a closed or reset socket only ends the writing.
 * - Frames of one event-loop turn share one write. This file writes the first frame at once.
 */
import type { ServerResponse } from 'node:http';
import { SSE_HEADERS } from '@a2a-js/sdk';

/** The batch size in characters. At the end of an event-loop turn, this file also writes a smaller batch. */
const BATCH = 64 * 1024;

/**
 * The time between two heartbeats, in milliseconds. WHATWG HTML §9.2.7: a comment about every 15 s keeps proxies from
 * closing the connection.
 */
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

/** Starts the response. Sends the headers at once, before the first frame. */
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
    // If data already waits for the client, the connection needs no heartbeat.
    if (batch === '' && isOpen(response) && !response.writableNeedDrain) response.write(':\n\n');
  }, heartbeatMs);
  const stopHeartbeat = (): void => clearInterval(heartbeat);
  response.once('close', stopHeartbeat);
  // After a reset during a write, Node also emits `close`, and its handler cleans up.
  response.on('error', stopHeartbeat);

  for (const [name, value] of Object.entries(SSE_HEADERS))
    // RFC 9112 §9.6: this header also depends on the client's request. Node sets it correctly.
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
