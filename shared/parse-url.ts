/** The WHATWG parser, without throwing. */

/**
 * Undefined for what is no URL. Not by way of `URL.canParse`: in Node 20, once it has been called often enough to be
 * optimised, it refuses what has a letter of Latin-1 in it.
 */
export function parseUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
