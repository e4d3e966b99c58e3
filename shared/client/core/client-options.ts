import type { RetryPolicy } from './retry-policy.ts';
import type { HttpClientOptions } from './http-client.ts';

/** The default of `quietMs`. Servers send a heartbeat every 10 to 15 s. */
export const DEFAULT_QUIET_MS = 45_000;

export interface ClientOptions extends HttpClientOptions {
  /** When and how often the client retries. A missing field has the value of `CLIENT_RETRY_POLICY`. */
  retryPolicy?: Partial<RetryPolicy> | undefined;
  /**
   * The maximum time without data on a stream, and until the response to a GET begins. After this time the client treats
   * the connection as broken. The default is 45 s.
   */
  quietMs?: number | undefined;
  /** The object on which the client listens for `beforeunload` and `pagehide`. The default is the current window. */
  page?: EventTarget | undefined;
}
