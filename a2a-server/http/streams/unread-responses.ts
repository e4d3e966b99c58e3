/**
 * S3: bounds the memory for responses that clients do not read. Unread bytes stay in this process.
 *
 * - The writer of a stream waits while its socket is full.
 * - The server closes a response without progress after some time, even if it has written the whole response.
 * - All unread responses of one principal together have a limit, and those of all principals together have another one.
 *   Above a limit, a large new response is closed, so that the older responses can finish. A client resumes a stream
 *   from its cursor.
 */
import type { ServerResponse } from 'node:http';
import type { OnRefused } from '../../limits/concurrency-limiter.ts';
import { type CountsByScope, LIMITS, reachedLimitScope } from '../../limits/limits.ts';
import { PrincipalCounter } from '../../limits/principal-counter.ts';

/**
 * The number of heartbeat intervals without accepted data after which the server closes a socket. 20 intervals of 15 s
 * are five minutes. A sleeping or vanished peer does not read, and only its full socket shows that. The client can
 * resume its stream from a cursor.
 */
const STALLED_HEARTBEATS = 20;
/**
 * The same number for the responses that are unread when a limit of unread bytes is reached. It is smaller, because the
 * clients that do read need the memory.
 */
const STALLED_HEARTBEATS_AT_LIMIT = 1;

/** A smaller response is not closed at once, so that a decision or a status gets its answer. */
const MIN_CLOSED_BYTES = 256 * 1024;

export class UnreadResponses {
  readonly #heartbeatMs: number;
  readonly #onRefused: OnRefused;
  readonly #limit: CountsByScope;
  readonly #megabytes = new PrincipalCounter();
  readonly #waiting = new Map<string, Set<ServerResponse>>();

  constructor(
    heartbeatMs: number,
    onRefused: OnRefused = () => undefined,
    limit: CountsByScope = LIMITS.unreadMegabytes,
  ) {
    this.#heartbeatMs = heartbeatMs;
    this.#onRefused = onRefused;
    this.#limit = limit;
  }

  /**
   * Waits until the client has read the unread bytes. Returns undefined if the response has no unread bytes, or if more
   * can be written. The promise also resolves when the socket closes. Slow progress keeps the socket open.
   */
  whenRead(principal: string, response: ServerResponse): Promise<void> | undefined {
    const bytes = response.writableLength;
    const mustWait = response.writableEnded ? bytes > 0 : response.writableNeedDrain;
    if (!mustWait || response.destroyed) return undefined;
    const waiting = this.#waiting.get(principal) ?? new Set();
    this.#waiting.set(principal, waiting.add(response));
    this.#megabytes.add(principal, bytes / 2 ** 20);
    // Node counts each partial write to the kernel as activity. The timeout fires only without activity.
    response.setTimeout(STALLED_HEARTBEATS * this.#heartbeatMs);
    const read = new Promise<void>((resolve) => {
      const settle = (): void => {
        for (const event of READ_EVENTS) response.off(event, settle);
        response.setTimeout(0);
        this.#megabytes.add(principal, -bytes / 2 ** 20);
        waiting.delete(response);
        if (waiting.size === 0) this.#waiting.delete(principal);
        resolve();
      };
      for (const event of READ_EVENTS) response.on(event, settle);
    });
    const scope = reachedLimitScope(this.#megabytes.usedBy(principal), this.#limit);
    const all = scope === 'server' ? [...this.#waiting.values()].flatMap((each) => [...each]) : [...waiting];
    if (scope === undefined || all.length === 1) return read;
    for (const each of all) each.setTimeout(STALLED_HEARTBEATS_AT_LIMIT * this.#heartbeatMs);
    if (bytes < MIN_CLOSED_BYTES) return read;
    this.#onRefused('unreadMegabytes', scope);
    response.destroy();
    return read;
  }
}

const READ_EVENTS = ['drain', 'finish', 'close'] as const;
