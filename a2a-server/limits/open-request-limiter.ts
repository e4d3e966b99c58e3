/**
 * Limits the open requests, the open event streams, and the bytes of incomplete request bodies. A request that follows
 * a task counts as a stream. Such a request reads an event stream, or blocks until the task waits or ends.
 */
import { ConcurrencyLimiter, type OnRefused } from './concurrency-limiter.ts';
import { type Limits, LIMITS } from './limits.ts';

/** A request that the limits have admitted. */
interface OpenRequest {
  /**
   * Counts the request as a stream. Call it before the request changes anything.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  becomeStream: () => void;
  /** Counts the bytes of the request's body. `hold` throws ProductError LIMIT_REACHED, OVERLOADED. */
  bodyMemory: { hold: (bytes: number) => void; release: () => void };
  /** Call this when the request is closed. */
  end: () => void;
}

export class OpenRequestLimiter {
  readonly #requests: ConcurrencyLimiter;
  readonly #streams: ConcurrencyLimiter;
  readonly #bodies: ConcurrencyLimiter;

  /** @param limits returns the limits that apply now */
  constructor(limits: () => Pick<Limits, 'requests' | 'streams'> = () => LIMITS, onRefused?: OnRefused) {
    this.#requests = new ConcurrencyLimiter('requests', () => limits().requests, onRefused);
    this.#streams = new ConcurrencyLimiter('streams', () => limits().streams, onRefused);
    this.#bodies = new ConcurrencyLimiter('bodyMegabytes', () => LIMITS.bodyMegabytes, onRefused);
  }

  get streams(): number {
    return this.#streams.total;
  }

  /** Admits a request. @throws ProductError LIMIT_REACHED, OVERLOADED */
  open(principal: string): OpenRequest {
    const endRequest = this.#requests.take(principal);
    let endStream: (() => void) | undefined;
    let held: (() => void)[] = [];
    const release = (): void => {
      for (const end of held) end();
      held = [];
    };
    return {
      becomeStream: () => {
        endStream ??= this.#streams.take(principal);
        endRequest();
      },
      bodyMemory: {
        hold: (bytes) => void held.push(this.#bodies.take(principal, bytes / 2 ** 20)),
        release,
      },
      end: () => {
        release();
        endRequest();
        endStream?.();
      },
    };
  }
}
