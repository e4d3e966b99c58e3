/**
 * Signs in with the OpenID Connect provider. The browser leaves the page for the provider, and returns to it with an answer
 * in the query. Until then, this origin's storage keeps the secret of the attempt and the fragment of the page's address.
 */
import { fieldOf, isRecord } from '../../../../shared/runtime/record.ts';
import { post, rememberPageKey, SIGNED_IN_WITH_PROVIDER } from './sign-in.ts';

const ATTEMPT = 'provider-sign-in';

/** A second silent attempt waits for this time, so a browser that stores no cookies does not go back and forth. */
const SILENT_PAUSE_MS = 60_000;

/** Returns the name of the provider. Undefined if the server has none, or does not answer. */
export async function readProviderName(): Promise<string | undefined> {
  const found: unknown = await fetch('page/provider')
    .then((response) => response.json())
    .catch(() => null);
  const name = fieldOf(found, 'name');
  return typeof name === 'string' ? name : undefined;
}

/** Returns the provider's answer, if the address has one. Removes it from the address. */
export function takeProviderAnswer(): string | undefined {
  const { search, pathname, hash } = location;
  const query = new URLSearchParams(search);
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return undefined;
  history.replaceState(null, '', pathname + hash);
  return search;
}

/**
 * Leaves the page for the provider. Returns an error text if that fails.
 * @param silent true if the provider must not ask the person anything
 */
export async function startProviderSignIn(
  silent: boolean,
  registrationCode: string | undefined,
): Promise<string | undefined> {
  const answer = await post('page/provider/start', { silent });
  if ('problem' in answer) return answer.problem;
  const { address, pageSecret } = answer.body;
  if (typeof address !== 'string' || typeof pageSecret !== 'string')
    return 'The server answered without an address of the provider.';
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (registrationCode !== undefined) fragment.set('passkey', registrationCode);
  localStorage.setItem(ATTEMPT, JSON.stringify({ pageSecret, fragment: fragment.toString() }));
  location.assign(address);
  return undefined;
}

/**
 * Sends the provider's answer to the server.
 * @param onFragment restores the fragment that the address had before. Only the fragment, so the person stays on this page
 * @returns an error text, or undefined after success
 */
export async function finishProviderSignIn(
  query: string,
  onFragment: (fragment: string) => void,
): Promise<string | undefined> {
  const { pageSecret, fragment } = takeAttempt();
  const answer = await post('page/provider/finish', { pageSecret, query });
  if (fragment !== '') onFragment(`#${fragment}`);
  if ('problem' in answer) return answer.problem;
  localStorage.setItem(SIGNED_IN_WITH_PROVIDER, String(Date.now()));
  return rememberPageKey(answer.body);
}

/**
 * True if the last session of this browser was one of the provider, and the person has not signed out. The page may then ask
 * the provider once without a question to the person.
 */
export function takeSilentAttempt(): boolean {
  const since = localStorage.getItem(SIGNED_IN_WITH_PROVIDER);
  localStorage.removeItem(SIGNED_IN_WITH_PROVIDER);
  return since !== null && Date.now() - Number(since) > SILENT_PAUSE_MS;
}

function takeAttempt(): { pageSecret: string; fragment: string } {
  const text = localStorage.getItem(ATTEMPT);
  localStorage.removeItem(ATTEMPT);
  const attempt: unknown = text === null ? undefined : JSON.parse(text);
  const { pageSecret, fragment } = isRecord(attempt) ? attempt : {};
  return {
    // The server refuses the attempt then, and says why.
    pageSecret: typeof pageSecret === 'string' ? pageSecret : 'none',
    fragment: typeof fragment === 'string' ? fragment : '',
  };
}
