/** Reads a resumable stream once: `GET <REST URL>/tasks/{id}:subscribe` with the cursor in `Last-Event-ID`. */
import { StreamResponse } from '@a2a-js/sdk';
import { ProductError } from '../../shared/runtime/errors.ts';
import { serverSentEventsOf } from '../../shared/net/server-sent-events.ts';
import { LAST_EVENT_ID_HEADER } from '../../shared/protocol/resumable-stream-extension.ts';
import { collapsedLine } from '../../shared/text/shortened-text.ts';
import { refuseErrorResponse } from './http/rest-refusal.ts';

/** The maximum length of the agent's reason for the end of a stream, in characters. */
const MAX_REASON_CHARACTERS = 300;

interface ResumableStream {
  url: string;
  headers: Readonly<Record<string, string>>;
  /**
   * The `seq` of the last event that was read. Null before the first event. The stream then starts with the current
   * task.
   */
  after: number | null;
  fetch: typeof fetch;
  signal: AbortSignal;
  onOpen: () => void;
}

/**
 * Yields the events until the stream ends.
 * @throws an error that says why the agent refused or ended the stream, or how the stream broke
 */
export async function* readResumableEvents({
  url,
  headers,
  after,
  fetch: send,
  signal,
  onOpen,
}: ResumableStream): AsyncGenerator<StreamResponse, void, undefined> {
  const cursor = after === null ? {} : { [LAST_EVENT_ID_HEADER]: String(after) };
  const response = await refuseErrorResponse(
    await send(url, { headers: { ...headers, accept: 'text/event-stream', ...cursor }, signal }),
  );
  onOpen();
  for await (const { event, data } of serverSentEventsOf(response, { signal })) {
    if (event === 'error') {
      const reason = collapsedLine(data, MAX_REASON_CHARACTERS);
      throw new ProductError('AGENT_ERROR', `The agent ended the stream: ${reason}`);
    }
    yield StreamResponse.fromJSON(JSON.parse(data));
  }
}
