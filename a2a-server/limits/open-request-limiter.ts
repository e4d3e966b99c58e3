/**
 * Limits the open requests, the open event streams, and the bytes of incomplete request bodies. A request that follows
 * a task counts as a stream. Such a request reads an event stream, or blocks until the task waits or ends.
 */
import { ConcurrencyLimiter, type OnRefused } from './concurrency-limiter.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { type Limits, LIMITS } from './limits.ts';
import { PrincipalCounter } from './principal-counter.ts';

/** The maximum number of megabytes in the incomplete request bodies of one principal. */
const MAX_BODY_MEGABYTES = 64;

/** A request that the limits have admitted. */
interface OpenRequest {
  /**
   * Counts the request as a stream. Call it before the request changes anything.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  becomeStream: () => void;
  /** Counts the bytes of the request's body. `hold` throws ProductError LIMIT_REACHED. */
  bodyMemory: { hold: (bytes: number) => void; release: () => void };
  /** Call this when the request is closed. */
  end: () => void;
}

export class OpenRequestLimiter {
  readonly #requests: ConcurrencyLimiter;
  readonly #streams: ConcurrencyLimiter;
  readonly #bodyBytes = new PrincipalCounter();

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
    let held = 0;
    const release = (): void => {
      this.#bodyBytes.add(principal, -held);
      held = 0;
    };
    return {
      becomeStream: () => {
        endStream ??= this.#streams.take(principal);
        endRequest();
      },
      bodyMemory: {
        hold: (bytes) => {
          if (this.#bodyBytes.of(principal) + bytes > MAX_BODY_MEGABYTES * 2 ** 20) throw tooManyBodyBytes();
          this.#bodyBytes.add(principal, bytes);
          held += bytes;
        },
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

function tooManyBodyBytes(): ProductError {
  const facts = { scope: 'principal', most: String(MAX_BODY_MEGABYTES), retryAfter: '1' };
  return new ProductError(
    'LIMIT_REACHED',
    `The requests that you are sending are larger than ${MAX_BODY_MEGABYTES} MB together, the limit of this server. Nothing was changed. Send the same request again in 1 s.`,
    { facts: { limit: 'bodyMegabytes', ...facts } },
  );
}
