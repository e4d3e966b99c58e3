/**
 * A request that was posted to a server is let go of when it is cancelled: a server that answers neither the one nor the other
 * would hold its socket for as long as the connection lives (R83).
 */
import { isJSONRPCNotification, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/client';

export class PostSignals {
  readonly #open = new Map<RequestId, AbortController>();

  /** Aborts when the request is cancelled, or all are. */
  begin(id: RequestId): AbortSignal {
    const own = new AbortController();
    this.#open.set(id, own);
    return own.signal;
  }

  /** The request has come to its end. */
  end(id: RequestId): void {
    this.#open.delete(id);
  }

  /** To be called when a notification has been sent: whether or not it was the end of a request. */
  sent(message: JSONRPCMessage): void {
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return;
    const id = message.params?.['requestId'];
    if (typeof id !== 'string' && typeof id !== 'number') return;
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }

  abortAll(): void {
    for (const own of this.#open.values()) own.abort();
    this.#open.clear();
  }
}
