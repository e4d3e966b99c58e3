/**
 * Parses a URL with the WHATWG parser. Returns undefined if the URL is invalid. This function does not use
 * `URL.canParse`: in Node 20, that function rejects URLs with Latin-1 letters after many calls.
 */
export function parseUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
