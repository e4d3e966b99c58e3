/** Where a link of a page leads. */

/** Absolute and without its fragment; undefined where that is no page, e.g. for `mailto:` and `javascript:`. */
export function linkTarget(href: string, base: URL): URL | undefined {
  if (!URL.canParse(href, base.href)) return undefined;
  const url = new URL(href, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  url.hash = '';
  return url;
}
