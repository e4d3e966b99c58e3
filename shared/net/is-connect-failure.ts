import { z } from 'zod';

const ofSystem = z.object({ syscall: z.enum(['connect', 'getaddrinfo']) });
/** Matches the error of undici's own connect timeout, which names no system call. */
const ofTimeLimit = z.object({ code: z.literal('UND_ERR_CONNECT_TIMEOUT') });
/** Matches the error after Node has tried several addresses of a host. `errors` has the error of each attempt. */
const ofAttempts = z.object({ errors: z.array(z.unknown()).min(1) });

/**
 * Returns true if the socket certainly did not connect, so that no byte was sent. The error code alone does not prove
 * this: the kernel also reports EHOSTUNREACH for a socket that has sent a request.
 * @param error the error of the socket. An error of `fetch` has this error as its `cause`.
 */
export function isConnectFailure(error: unknown): boolean {
  const attempts = ofAttempts.safeParse(error).data?.errors;
  if (attempts !== undefined) return attempts.every(isConnectFailure);
  return ofSystem.safeParse(error).success || ofTimeLimit.safeParse(error).success;
}
