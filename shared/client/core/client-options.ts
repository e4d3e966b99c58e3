import type { RetryPolicy } from './retry-policy.ts';
import type { HttpClientOptions } from './http-client.ts';

export interface ClientOptions extends HttpClientOptions {
  /** Missing fields get their defaults. */
  patience?: Partial<RetryPolicy> | undefined;
  /** The target of the events `beforeunload` and `pagehide`. The default is the current window. */
  page?: EventTarget | undefined;
}
