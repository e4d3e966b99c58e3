/** Parses a URL with the WHATWG parser, without throwing. */

/**
 * Returns undefined for an invalid URL. It does not use `URL.canParse`: in Node 20, after many calls, the optimised
 * function rejects URLs with Latin-1 letters.
 */
export function parseUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
