/**
 * Sends a notification to an address that a client chose. X2: as for the tool `fetch`, private addresses are refused
 * unless the operator lists them.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
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
    // A host name that DNS does not know now may exist later. Each delivery checks the address again.
  });
  return parsed;
}

/**
 * Posts a notification. The address is checked at each attempt, because a name may get another address. Redirects are
 * failures: a receiver could redirect to an address that the server must not connect to.
 * @throws Error if the receiver did not answer with a status from 200 to 299
 */
export async function postNotification(
  url: string,
  { headers, body, signal }: { headers: Record<string, string>; body: string; signal: AbortSignal },
  { allowed, resolve }: PushAddressRules,
): Promise<void> {
  const parsed = parseWebUrl(url, { allowed });
  const addresses = await resolveCheckedAddresses(parsed, { allowed, resolve });
  const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const response = await sendToPinnedAddresses(parsed, {
    method: 'POST',
    addresses,
    headers,
    body,
    signal: limited,
  });
  const { statusCode = 0 } = response;
  // The body of the response is not used.
  response.destroy();
  if (statusCode >= 300 && statusCode < 400)
    throw new Error(`it redirects (HTTP ${statusCode}); register the address that it redirects to`);
  if (statusCode < 200 || statusCode >= 300) throw new Error(`it answered with HTTP ${statusCode}`);
}
