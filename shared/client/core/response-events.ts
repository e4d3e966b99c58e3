import type { EventSourceMessage } from 'eventsource-parser';
import {
  serverSentEventsOf,
  EventTooLargeError,
  type StreamReadingOptions,
} from '../../net/server-sent-events.ts';
import { ClientError, unreachableError } from './client-error.ts';

/**
 * Reads the server-sent events of a response.
 * @throws ClientError `unreachable` if the connection breaks or the reading is aborted
 * @throws ClientError `malformed-answer` if an event is too large
 */
export async function* readResponseEvents(
  response: Response,
  reading: StreamReadingOptions,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  try {
    yield* serverSentEventsOf(response, reading);
  } catch (error) {
    throw error instanceof EventTooLargeError
      ? new ClientError('malformed-answer', error.message, { cause: error })
      : unreachableError(response.url, error);
  }
}
