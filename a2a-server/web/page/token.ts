/** The token of this visit. It comes in the address's fragment, which no browser sends anywhere, and stays with the tab. */
const KEY = 'token';

/** Takes the token out of the address, so that it is in no history and no screenshot. @returns the one this tab has */
export function takeToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given !== null) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem(KEY);
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}
