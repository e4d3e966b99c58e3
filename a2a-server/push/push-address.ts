/**
 * Sends a notification to an address that a client chose. X2: as for the tool `fetch`, private addresses are refused
 * unless the operator lists them.
 */
import { unlessAborted } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { startTimeout } from '../runtime/timeout.ts';
import type { IsPrivateHostAllowed } from '../tools/web/allowed-hosts.ts';
import { resolveCheckedAddresses, type ResolveHost } from '../tools/web/resolve-checked-host.ts';
import { sendToPinnedAddresses } from '../tools/web/send-to-pinned-addresses.ts';
import { parseWebUrl } from '../tools/web/web-url.ts';

const TIMEOUT_MS = 10_000;

export interface PushAddressRules {
  allowed: IsPrivateHostAllowed;
  resolve: ResolveHost;
}

/**
 * Checks an address before it is registered.
 * @throws ProductError MALFORMED or FORBIDDEN, for an address that the server must not connect to
 */
export async function requireAllowedPushAddress(
  url: string,
  { allowed, resolve }: PushAddressRules,
): Promise<URL> {
  const parsed = parseWebUrl(url, { allowed });
  await resolveCheckedAddresses(parsed, { allowed, resolve }).catch((error: unknown) => {
    if (error instanceof ProductError) throw error;
    // An error of DNS is ignored. A host name that DNS does not know now may exist later, and each delivery checks
    // the address again.
  });
  return parsed;
}

interface PushRequest {
  headers: Record<string, string>;
  body: string;
  /** If this signal aborts, the post ends. */
  signal: AbortSignal;
  clock: Clock;
}

/**
 * Posts a notification. The address is checked at each attempt, because a name may get another address. Redirects are
 * failures: a receiver could redirect to an address that the server must not connect to.
 * @throws Error if the receiver did not answer with a status from 200 to 299
 */
export async function postNotification(
  url: string,
  { signal, clock, ...post }: PushRequest,
  { allowed, resolve }: PushAddressRules,
): Promise<void> {
  const parsed = parseWebUrl(url, { allowed });
  // DNS may take long, so its time counts too. Otherwise a post could arrive after the end of the server's lease.
  const limit = startTimeout(clock, TIMEOUT_MS, signal);
  try {
    const found = resolveCheckedAddresses(parsed, { allowed, resolve });
    const addresses = await unlessAborted(found, limit.signal);
    requireSuccess(await statusOfPost(parsed, { ...post, addresses, signal: limit.signal }));
  } catch (error) {
    throw limit.expired() ? new Error(`it did not answer within ${TIMEOUT_MS / 1000} s`) : error;
  } finally {
    limit.clear();
  }
}

async function statusOfPost(
  url: URL,
  post: Pick<PushRequest, 'headers' | 'body' | 'signal'> & { addresses: readonly string[] },
): Promise<number> {
  const response = await sendToPinnedAddresses(url, { method: 'POST', ...post });
  // The body of the response is not used.
  response.destroy();
  return response.statusCode ?? 0;
}

function requireSuccess(status: number): void {
  if (status >= 300 && status < 400)
    throw new Error(`it redirects (HTTP ${status}); register the address that it redirects to`);
  if (status < 200 || status >= 300) throw new Error(`it answered with HTTP ${status}`);
}
