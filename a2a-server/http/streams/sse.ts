/**
 * Writes server-sent events to a response.
 *
 * - S3: the writer buffers at most one batch, besides the socket's buffer. The source of the events waits while the
 *   socket is full (`Caller.whenWritable`).
 * - E4: if the socket closes, only the writing ends.
 * - The first frame is written at once. Later frames of one event-loop turn share one write.
 */
import type { ServerResponse } from 'node:http';
import { SSE_HEADERS } from '@a2a-js/sdk';

/** The batch size in characters. At the end of an event-loop turn, a smaller batch is also written. */
const BATCH_CHARS = 64 * 1024;

/**
 * The time between two heartbeats. WHATWG HTML §9.2.7: a comment about every 15 s keeps proxies from closing the
 * connection.
 */
export const HEARTBEAT_MS = 15_000;

export interface SseFrame {
  data: string;
  id?: string | undefined;
  /** The event type. The default is `message`. */
  event?: string;
}

interface SseWriter {
  send(frame: SseFrame): void;
  end(): void;
}

/** Starts the response. Sends the headers before the first frame. */
export function startSseResponse(
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
  // After a reset during a write, Node emits `error`. An `error` event without a listener would throw.
  response.on('error', stopHeartbeat);

  for (const [name, value] of Object.entries(SSE_HEADERS))
    // Node sets the header Connection, because its value also depends on the client's request (RFC 9112 §9.6).
    if (name !== 'Connection') response.setHeader(name, value);
  response.statusCode = 200;
  response.flushHeaders();
  if (retryMs !== undefined) response.write(`retry: ${retryMs}\n\n`);

  return {
    send(frame) {
      batch += formatFrame(frame);
      if (first || batch.length >= BATCH_CHARS) {
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

function formatFrame({ data, id, event }: SseFrame): string {
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

function isOpen(response: ServerResponse): boolean {
  return !response.destroyed && !response.writableEnded;
}
