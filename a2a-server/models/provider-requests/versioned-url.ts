/** Accepts base URLs with or without the API version, e.g. `http://localhost:11434` and `http://localhost:11434/v1`. */

/** True if a segment of the path is a version, e.g. in `/v1`, `/v1beta/openai` or `/api/paas/v4`. */
export function hasApiVersion(url: string): boolean {
  return /\/v\d[^/]*(?:\/|$)/.test(new URL(url).pathname);
}

export function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/**
 * If the URL has no version, appends the version of the provider's default URL. If the URL also has no path, appends
 * the whole path of the default URL.
 * @param own the default URL, e.g. `https://openrouter.ai/api/v1`
 */
export function withApiVersion(url: string, own: string): string {
  const base = withoutTrailingSlash(url);
  if (hasApiVersion(base)) return base;
  const path = new URL(own).pathname;
  return base + (new URL(base).pathname === '/' ? path : path.slice(path.lastIndexOf('/')));
}

/**
 * Returns a `fetch` for an endpoint whose URL has no version. Most such endpoints need `/v1`. The first request tries
 * `/v1`. If that path does not exist, the request is repeated without a version.
 */
export function createVersionedFetch(baseURL: string, fetchImpl: typeof fetch = fetch): typeof fetch {
  let known: string | undefined;
  return async (input, init) => {
    const path = urlOf(input).slice(baseURL.length);
    if (known !== undefined) return fetchImpl(known + path, init);
    const versioned = await fetchImpl(`${baseURL}/v1${path}`, init);
    if (!isMissing(versioned)) {
      known = `${baseURL}/v1`;
      return versioned;
    }
    const plain = await fetchImpl(baseURL + path, init);
    // If the model does not exist, both requests fail with 404. Then the first answer is returned, because it gives
    // the reason.
    const [answer, other] = isMissing(plain) ? [versioned, plain] : [plain, versioned];
    if (answer === plain) known = baseURL;
    await other.body?.cancel();
    return answer;
  };
}

function urlOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : String(input);
}

function isMissing({ status }: Response): boolean {
  return status === 404 || status === 405;
}
