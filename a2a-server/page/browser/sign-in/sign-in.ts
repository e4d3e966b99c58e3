/**
 * This browser's sign-in: a cookie that scripts cannot read, and the page key in this origin's storage. A request needs
 * both. A page on another port has only the cookie. A thief of the key has only the key. So neither can send requests.
 */
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { fieldOf, isRecord } from '../../../../shared/runtime/record.ts';

const KEY = 'page-key';

/** The storage key for the end of a session that began with a sign-in at the provider. No value after a sign-out. */
export const PROVIDER_SESSION_EXPIRY_KEY = 'provider-session-end';

/** The base URL of requests that use the page's session instead of a bearer token. */
export const PAGE_API_URL = new URL('page/api', location.href).href;

export const pageKey = (): string | null => localStorage.getItem(KEY);

export const forgetPageKey = (): void => localStorage.removeItem(KEY);

export const signedInFetch: typeof fetch = (input, init) =>
  fetch(input, {
    ...init,
    credentials: 'same-origin',
    headers: { ...Object.fromEntries(new Headers(init?.headers)), 'X-Page-Key': pageKey() ?? '' },
  });

/** Exchanges the code of a one-time link for the sign-in. Returns an error text, or undefined after success. */
export async function signIn(code: string): Promise<string | undefined> {
  const answer = await tryPostJson('page/session', { code });
  return 'problem' in answer ? answer.problem : acceptPageSession(answer.body, 'link');
}

/** Stores what the page needs of a new session. Returns an error text, or undefined after success. */
export function acceptPageSession(
  { pageKey: key, expiresAt }: Record<string, unknown>,
  by: 'link' | 'provider',
): string | undefined {
  if (typeof key !== 'string') return 'The server answered without a page key.';
  if (by === 'provider') localStorage.setItem(PROVIDER_SESSION_EXPIRY_KEY, String(expiresAt));
  else localStorage.removeItem(PROVIDER_SESSION_EXPIRY_KEY);
  localStorage.setItem(KEY, key);
  return undefined;
}

/** Signs out. Returns an error text, or undefined if the server has ended the session. */
export async function signOut(everywhere: boolean): Promise<string | undefined> {
  const answer = await tryPostJson('page/sign-out', { everywhere });
  if ('problem' in answer && answer.status !== 401) return answer.problem;
  localStorage.removeItem(PROVIDER_SESSION_EXPIRY_KEY);
  forgetPageKey();
  return undefined;
}

/** Calls `act` when another tab signs in or out. Returns a function that removes the listener. */
export function onSignInChange(act: () => void): () => void {
  const changed = ({ key }: StorageEvent): void => {
    if (key === KEY || key === null) act();
  };
  window.addEventListener('storage', changed);
  return () => window.removeEventListener('storage', changed);
}

type PostResult = { body: Record<string, unknown> } | { problem: string; status: number };

export async function tryPostJson(path: string, body: object): Promise<PostResult> {
  try {
    const response = await signedInFetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const value: unknown = await response.json();
    const answer = isRecord(value) ? value : {};
    if (response.ok) return { body: answer };
    const message = fieldOf(answer['error'], 'message');
    const problem = typeof message === 'string' ? message : `The server answered ${response.status}.`;
    return { problem, status: response.status };
  } catch (error) {
    return { problem: errorMessageOf(error), status: 0 };
  }
}
