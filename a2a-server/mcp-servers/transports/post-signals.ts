/**
 * Releases the socket of a cancelled request. Otherwise a server that never answers would keep the socket until the
 * connection ends (R83). After a timeout, a request keeps its socket for a limited time, because the answer may be
 * late.
 */
import { isJSONRPCNotification, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/client';
import type { Clock } from '../../../shared/runtime/clock.ts';

/** The maximum number of open sockets that wait for late answers. */
const MAX_KEPT = 16;

export class PostSignals {
  readonly #open = new Map<RequestId, AbortController>();
  readonly #clock: Clock;
  /** Cancels the timers of the requests that wait for a late answer. */
  readonly #kept = new Map<RequestId, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a signal that aborts when this request or the connection is cancelled. */
  begin(id: RequestId): AbortSignal {
    const own = new AbortController();
    this.#open.set(id, own);
    return own.signal;
  }

  /** Call this when the request has ended. */
  end(id: RequestId): void {
    this.#open.delete(id);
    this.#kept.get(id)?.();
    this.#kept.delete(id);
  }

  /** Call this before you cancel the request. Its signal then aborts only after `ms` milliseconds. */
  keepOpen(id: RequestId, ms: number): void {
    if (this.#open.has(id) && !this.#kept.has(id) && this.#kept.size < MAX_KEPT)
      this.#kept.set(
        id,
        this.#clock.after(ms, () => this.#abort(id)),
      );
  }

  /** Call this after each sent notification. Only `notifications/cancelled` has an effect. */
  sent(message: JSONRPCMessage): void {
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return;
    const id = message.params?.['requestId'];
    if (typeof id !== 'string' && typeof id !== 'number') return;
    if (!this.#kept.has(id)) this.#abort(id);
  }

  #abort(id: RequestId): void {
    this.#open.get(id)?.abort();
    this.end(id);
  }

  abortAll(): void {
    for (const id of this.#open.keys()) this.#abort(id);
  }
}
