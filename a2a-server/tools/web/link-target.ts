/** Where a link of a page leads. */
import { parseUrl } from '../../../shared/parse-url.ts';

/** Absolute and without its fragment; undefined where that is no page, e.g. for `mailto:` and `javascript:`. */
export function linkTarget(href: string, base: URL): URL | undefined {
  const url = parseUrl(href, base);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
  url.hash = '';
  return url;
}
