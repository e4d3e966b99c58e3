/**
 * Releases the socket of a cancelled request. Otherwise, a server that never answers would keep the socket until the
 * connection ends. After a timeout, the socket stays open for a limited time, because the answer may be late.
 */
import { isJSONRPCNotification, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/client';
import type { Clock } from '../../../shared/runtime/clock.ts';

const MAX_SOCKETS_FOR_LATE_ANSWERS = 16;

export class CancelledRequestSockets {
  readonly #open = new Map<RequestId, AbortController>();
  readonly #clock: Clock;
  /** Functions that cancel the timers of requests that wait for a late answer. */
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

  /** True if the request has neither an answer nor another end. */
  isOpen(id: RequestId): boolean {
    return this.#open.has(id);
  }

  end(id: RequestId): void {
    this.#open.delete(id);
    this.#kept.get(id)?.();
    this.#kept.delete(id);
  }

  /** Keeps the socket of a request open for `ms` milliseconds. Must be called before the request is cancelled. */
  keepOpen(id: RequestId, ms: number): void {
    if (this.#open.has(id) && !this.#kept.has(id) && this.#kept.size < MAX_SOCKETS_FOR_LATE_ANSWERS)
      this.#kept.set(
        id,
        this.#clock.after(ms, () => this.abort(id)),
      );
  }

  /**
   * Releases the socket of a cancelled request. Must be called after each sent notification. Only
   * `notifications/cancelled` has an effect.
   */
  sent(message: JSONRPCMessage): void {
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return;
    const id = message.params?.['requestId'];
    if (typeof id !== 'string' && typeof id !== 'number') return;
    if (!this.#kept.has(id)) this.abort(id);
  }

  /** Releases the socket of a request. */
  abort(id: RequestId): void {
    this.#open.get(id)?.abort();
    this.end(id);
  }

  abortAll(): void {
    for (const id of this.#open.keys()) this.abort(id);
  }
}
