/**
 * Limits the open requests and the open event streams. A request that follows a task, as a stream or because it blocks
 * until the task waits or ends, counts as a stream from then on.
 */
import { CountedUse, type OnRefused } from './counted-use.ts';
import { type Limits, LIMITS } from './limits.ts';

/** One admitted request. */
export interface OpenRequest {
  /**
   * Counts the request as a stream. Call it before the request changes anything.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  becomeStream: () => void;
  /** The request is closed. */
  end: () => void;
}

export class OpenRequests {
  readonly #requests: CountedUse;
  readonly #streams: CountedUse;

  /** @param limits returns the limits that apply now */
  constructor(limits: () => Pick<Limits, 'requests' | 'streams'> = () => LIMITS, onRefused?: OnRefused) {
    this.#requests = new CountedUse('requests', () => limits().requests, onRefused);
    this.#streams = new CountedUse('streams', () => limits().streams, onRefused);
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
