/**
 * Signs in with the OpenID Connect provider. The browser leaves the page for the provider, and returns to it with an
 * answer in the query. Until then, this origin's storage keeps the secret of the attempt and the fragment of the page's
 * address.
 */
import { fieldOf, isRecord } from '../../../../shared/runtime/record.ts';
import { parseJson } from '../../../../shared/text/parse-json.ts';
import { tryPostJson, PROVIDER_SESSION_EXPIRY_KEY, acceptPageSession } from './sign-in.ts';

const ATTEMPT = 'provider-sign-in';

interface Attempt {
  /** The `state` parameter of the request to the provider. The provider's answer repeats this parameter. */
  state: string;
  pageSecret: string;
  /** The fragment of the page's address before the sign-in. */
  fragment: string;
}

/** The clocks of this browser and the server may differ. */
const CLOCK_TOLERANCE_MS = 60_000;

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
  const address = new URL(location.href);
  const { search, searchParams } = address;
  if (!searchParams.has('state') || !(searchParams.has('code') || searchParams.has('error')))
    return undefined;
  address.search = '';
  history.replaceState(null, '', address);
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
  const answer = await tryPostJson('page/provider/start', { silent });
  if ('problem' in answer) return answer.problem;
  const { address, pageSecret } = answer.body;
  if (typeof address !== 'string' || typeof pageSecret !== 'string')
    return 'The server answered without an address of the provider.';
  const state = new URL(address).searchParams.get('state') ?? '';
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (registrationCode !== undefined) fragment.set('passkey', registrationCode);
  const attempt: Attempt = { state, pageSecret, fragment: fragment.toString() };
  localStorage.setItem(ATTEMPT, JSON.stringify(attempt));
  location.assign(address);
  return undefined;
}

/**
 * Sends the provider's answer to the server.
 * @param onFragment restores the fragment that the address had before. Only the fragment changes, so the browser does
 * not load the page again
 * @returns an error text, or undefined after success
 */
export async function finishProviderSignIn(
  query: string,
  onFragment: (fragment: string) => void,
): Promise<string | undefined> {
  const attempt = takeAttemptOfAnswer(query);
  if (attempt === undefined)
    return 'This sign-in did not begin in this browser, or another tab began a later one. Sign in again.';
  const { pageSecret, fragment } = attempt;
  const answer = await tryPostJson('page/provider/finish', { pageSecret, query });
  if (fragment !== '') onFragment(`#${fragment}`);
  if ('problem' in answer) return answer.problem;
  return acceptPageSession(answer.body, 'provider');
}

/**
 * Returns true once if the last session that began with a sign-in at the provider has reached its end. Then the page
 * may try one silent sign-in, which asks the person nothing. If the session ended earlier, a person has signed out,
 * maybe in another browser. Then the page must not sign in by itself.
 */
export function takeSilentSignInAttempt(): boolean {
  const end = localStorage.getItem(PROVIDER_SESSION_EXPIRY_KEY);
  localStorage.removeItem(PROVIDER_SESSION_EXPIRY_KEY);
  return end !== null && Date.now() >= Date.parse(end) - CLOCK_TOLERANCE_MS;
}

/**
 * Returns the attempt that the provider's answer belongs to, and removes it. An answer to another attempt removes
 * nothing, so a link or another tab cannot end the attempt.
 */
function takeAttemptOfAnswer(query: string): Attempt | undefined {
  const attempt = storedAttempt();
  if (attempt !== undefined && attempt.state !== new URLSearchParams(query).get('state')) return undefined;
  localStorage.removeItem(ATTEMPT);
  return attempt;
}

/** Undefined if the browser has no attempt, or a damaged one. */
function storedAttempt(): Attempt | undefined {
  const attempt = parseJson(localStorage.getItem(ATTEMPT) ?? '');
  const { state, pageSecret, fragment } = isRecord(attempt) ? attempt : {};
  if (typeof state !== 'string' || typeof pageSecret !== 'string' || typeof fragment !== 'string')
    return undefined;
  return { state, pageSecret, fragment };
}
