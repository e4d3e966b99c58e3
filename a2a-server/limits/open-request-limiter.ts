/**
 * Limits the open requests and the open event streams. As soon as a request follows a task, it counts as a stream: it
 * reads an event stream, or it blocks until the task waits or ends.
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
  /** Call this when the request is closed. */
  end: () => void;
}

export class OpenRequestLimiter {
  readonly #requests: ConcurrencyLimiter;
  readonly #streams: ConcurrencyLimiter;

  /** @param limits returns the limits that apply now */
  constructor(limits: () => Pick<Limits, 'requests' | 'streams'> = () => LIMITS, onRefused?: OnRefused) {
    this.#requests = new ConcurrencyLimiter('requests', () => limits().requests, onRefused);
    this.#streams = new ConcurrencyLimiter('streams', () => limits().streams, onRefused);
  }

  get streams(): number {
    return this.#streams.total;
  }

  /** Admits a request. @throws ProductError LIMIT_REACHED, OVERLOADED */
  open(principal: string): OpenRequest {
    const endRequest = this.#requests.take(principal);
    let endStream: (() => void) | undefined;
    return {
      becomeStream: () => {
        endStream ??= this.#streams.take(principal);
        endRequest();
      },
      end: () => {
        endRequest();
        endStream?.();
      },
    };
  }
}
