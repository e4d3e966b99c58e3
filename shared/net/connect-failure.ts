/** Recognises errors of Node's network layer that come before a connection. Pure. */
import { z } from 'zod';

const ofSystem = z.object({ syscall: z.enum(['connect', 'getaddrinfo']) });
/** Undici's own time limit has no system call. */
const ofTimeLimit = z.object({ code: z.literal('UND_ERR_CONNECT_TIMEOUT') });
/** Node tries each address of a host. The error of each attempt is in `errors`. */
const ofAttempts = z.object({ errors: z.array(z.unknown()).min(1) });

/**
 * True if the socket certainly did not connect, so no byte was sent. The code alone does not say so: the kernel reports
 * EHOSTUNREACH also for a socket that has sent a request.
 * @param error of the socket; `fetch` has it as the cause of its own
 */
export function isConnectFailure(error: unknown): boolean {
  const attempts = ofAttempts.safeParse(error).data?.errors;
  if (attempts !== undefined) return attempts.every(isConnectFailure);
  return ofSystem.safeParse(error).success || ofTimeLimit.safeParse(error).success;
}
