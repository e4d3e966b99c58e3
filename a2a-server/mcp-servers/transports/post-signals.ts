/**
 * Releases the socket of a cancelled request. A server that never answers would otherwise keep the socket until the
 * connection ends (R83).
 */
import { isJSONRPCNotification, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/client';

export class PostSignals {
  readonly #open = new Map<RequestId, AbortController>();

  /** Returns a signal that aborts when this request or the connection is cancelled. */
  begin(id: RequestId): AbortSignal {
    const own = new AbortController();
    this.#open.set(id, own);
    return own.signal;
  }

  /** Call this when the request has ended. */
  end(id: RequestId): void {
    this.#open.delete(id);
  }

  /** Call this after each sent notification; it handles only `notifications/cancelled`. */
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
