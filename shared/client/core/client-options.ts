import type { RetryPolicy } from './retry-policy.ts';
import type { HttpClientOptions } from './http-client.ts';

export interface ClientOptions extends HttpClientOptions {
  /** When and how often the client retries. A missing field has the value of `CLIENT_RETRY_POLICY`. */
  patience?: Partial<RetryPolicy> | undefined;
  /** The object on which the client listens for `beforeunload` and `pagehide`. The default is the current window. */
  page?: EventTarget | undefined;
}
