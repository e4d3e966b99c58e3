/** Checks whether the address in the state directory belongs to this user's A2A server. */
import { z } from 'zod';
import { messageOf } from '../../shared/runtime/errors.ts';

export type Health =
  | { type: 'up' }
  /** The server is shutting down: the next one can start afterwards. */
  | { type: 'closing' }
  /** Nothing listens: the server that left the address has ended. */
  | { type: 'down' }
  /** Another program listens there. */
  | { type: 'stranger'; message: string };

const TIMEOUT_MS = 5_000;
const refused = z.object({
  cause: z.object({ code: z.enum(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET']) }),
});

/** `GET /health` with the local token, which only that server accepts. */
export async function healthOf(url: string, token: string): Promise<Health> {
  try {
    const response = await fetch(new URL('/health', url), {
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok) return { type: isClosing(await response.text()) ? 'closing' : 'up' };
    await response.body?.cancel();
    return { type: 'stranger', message: `it answered HTTP ${String(response.status)} to this user's token` };
  } catch (error) {
    return refused.safeParse(error).success
      ? { type: 'down' }
      : { type: 'stranger', message: messageOf(error) };
  }
}

const closing = z.object({ status: z.literal('closing') });

function isClosing(body: string): boolean {
  try {
    return closing.safeParse(JSON.parse(body)).success;
  } catch {
    return false;
  }
}
