/** Resolves the target of a link. */
import { parseUrl } from '../../../shared/net/parse-url.ts';

/** Returns an absolute URL without fragment; undefined for other schemes, e.g. `mailto:` and `javascript:`. */
export function linkTarget(href: string, base: URL): URL | undefined {
  const url = parseUrl(href, base);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
  url.hash = '';
  return url;
}
