/**
 * Stores the newest messages of the streams of one MCP session. After a lost connection, a client can receive them
 * again (MCP 2025-11-25, Streamable HTTP, Resumability and Redelivery). Because of this store, the SDK starts each
 * response stream with an event that has an id and no data.
 *
 * S2: an unknown cursor is an error. When an event is removed, its id becomes unknown. A client that sends this id gets
 * an error.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type EventStore,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';

/** The maximum number of events, and of characters, for one session. The newest event is always kept. */
const MAX_EVENTS = 500;
const MAX_CHARACTERS = 2 * 1024 * 1024;

/** The SDK's name of the stream that a GET opens. */
const GET_STREAM = '_GET_stream';

/** A stream: the response to a request, or the stream that a GET opens. */
type McpStreamOrigin = { type: 'response'; request: RequestId } | { type: 'get' };

interface StreamEvent {
  stream: string;
  /** Undefined for the first event of a stream, which has no data. */
  message: JSONRPCMessage | undefined;
  characters: number;
}

export class RedeliveryStore implements EventStore {
  readonly #events = new Map<string, StreamEvent>();
  /** The request of each response stream. An entry is kept until the reply is removed. */
  readonly #requests = new Map<string, RequestId>();
  readonly #request = new AsyncLocalStorage<RequestId>();
  #last = 0;
  #characters = 0;

  /** Runs `answer`. A stream that starts meanwhile belongs to the request. */
  during<T>(request: RequestId | undefined, answer: () => T): T {
    return request === undefined ? answer() : this.#request.run(request, answer);
  }

  storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${stream}_${(this.#last += 1)}`;
    const isBeginning = !('jsonrpc' in message);
    const request = this.#request.getStore();
    if (isBeginning && request !== undefined) this.#requests.set(stream, request);
    const characters = JSON.stringify(message).length;
    this.#events.set(id, { stream, message: isBeginning ? undefined : message, characters });
    this.#characters += characters;
    for (const oldest of this.#events.keys()) {
      if (this.#events.size <= MAX_EVENTS && this.#characters <= MAX_CHARACTERS) break;
      if (oldest !== id) this.#drop(oldest);
    }
    return Promise.resolve(id);
  }

  getStreamIdForEventId(id: string): Promise<string | undefined> {
    return Promise.resolve(this.#events.get(id)?.stream);
  }

  async replayEventsAfter(
    id: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = this.#events.get(id)?.stream;
    if (stream === undefined) throw new Error('This event is not known any more.');
    let reached = false;
    for (const [eventId, event] of this.#events) {
      if (reached && event.stream === stream && event.message !== undefined)
        await send(eventId, event.message);
      reached ||= eventId === id;
    }
    return stream;
  }

  /**
   * Returns the stream of this event. Returns undefined if the event is unknown, or if the request of its stream is
   * unknown, as for a batch of requests.
   */
  streamOf(id: string): McpStreamOrigin | undefined {
    const stream = this.#events.get(id)?.stream;
    if (stream === undefined) return undefined;
    if (stream === GET_STREAM) return { type: 'get' };
    const request = this.#requests.get(stream);
    return request === undefined ? undefined : { type: 'response', request };
  }

  /** Removes the stream of a cancelled request. It cannot be resumed, because no reply follows. */
  forget(request: RequestId): void {
    for (const [stream, of] of this.#requests) {
      if (of !== request) continue;
      for (const [id, event] of this.#events) if (event.stream === stream) this.#drop(id);
      this.#requests.delete(stream);
    }
  }

  #drop(id: string): void {
    const event = this.#events.get(id);
    if (event === undefined) return;
    this.#characters -= event.characters;
    this.#events.delete(id);
    if (event.message !== undefined && isAnswer(event.message)) this.#requests.delete(event.stream);
  }
}

function isAnswer(message: JSONRPCMessage): boolean {
  return isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
}
