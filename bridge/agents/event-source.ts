/**
 * Reads a resumable stream once: `GET <rest>/tasks/{id}:subscribe` with the cursor in `Last-Event-ID`. The caller
 * reconnects: it knows whether the task has settled, and backs off.
 */
import { StreamResponse } from '@a2a-js/sdk';
import { fromRestErrorBody } from '@a2a-js/sdk/errors';
import { EventSource, type FetchLike } from 'eventsource';
import { onAbort } from '../../shared/runtime/abort.ts';
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import { LAST_EVENT_ID } from '../../shared/protocol/resumable-stream.ts';
import { HttpFailure } from './http-failure.ts';

export interface StreamReading {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The `seq` of the last event that was read. Null if there is none: the stream then begins with the current task. */
  after: number | null;
  fetch: typeof fetch;
  signal: AbortSignal;
  /** Called for each event, in order. `enough`, or an exception, ends the reading. */
  onEvent: (event: StreamResponse) => 'more' | 'enough';
}

/**
 * Resolves when the stream has ended or was cut, which a client cannot distinguish. Rejects when the agent refused
 * it.
 */
export function readEvents(reading: StreamReading): Promise<void> {
  return new Promise((resolve, reject) => {
    let refusal: unknown;
    const source = new EventSource(reading.url, { fetch: withCursor(reading, (error) => (refusal = error)) });
    const end = (error?: unknown): void => {
      stop();
      // After this turn: the library schedules its reconnection after its listeners, and `close` cancels it.
      queueMicrotask(() => source.close());
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the stream was refused', { cause: error }));
    };
    const stop = onAbort(reading.signal, () => {
      queueMicrotask(() => source.close());
      reject(new DOMException('This reading was called off', 'AbortError'));
    });
    source.addEventListener('message', (message) => {
      try {
        const event = StreamResponse.fromJSON(JSON.parse(String(message.data)));
        if (reading.onEvent(event) === 'enough') end();
      } catch (error) {
        end(error);
      }
    });
    // The name has two uses: the library reports a lost connection, and the agent may send an event of this type.
    source.addEventListener('error', (event: Event) => {
      end(
        'data' in event
          ? new ProductError('AGENT_ERROR', `The agent ended the stream: ${String(event.data)}`)
          : refusal,
      );
    });
  });
}

const restError = z.object({
  error: z.object({
    message: z.string(),
    details: z.array(z.record(z.string(), z.unknown())).default([]),
  }),
});

/** The library hides the failure of a fetch; `refused` passes it on. */
function withCursor(reading: StreamReading, refused: (error: unknown) => void): FetchLike {
  const cursor = reading.after === null ? {} : { [LAST_EVENT_ID]: String(reading.after) };
  return async (url, { headers, signal }) => {
    try {
      const response = await reading.fetch(url, {
        headers: { ...reading.headers, ...headers, ...cursor },
        signal: AbortSignal.any([signal, reading.signal]),
      });
      if (response.ok) return response;
      throw await refusalOf(response);
    } catch (error) {
      refused(error);
      throw error;
    }
  };
}

async function refusalOf(response: Response): Promise<Error> {
  const body = restError.safeParse(await response.json());
  if (!body.success) return new HttpFailure(response.status, `HTTP ${String(response.status)}`);
  const { message, details } = body.data.error;
  // The SDK keeps only A2A's own reasons; `failure.ts` reads ours from `data`.
  return Object.assign(fromRestErrorBody({ message, details }, { statusCode: response.status }), {
    data: details,
  });
}
