/** Which URLs are one page, and which look like a trap: the ways in which a site can be made to have no end. */

/** Parameters that say where a reader came from, not what there is to read. */
const TRACKING = /^(utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|yclid|ref_src|_ga|_gl)$/iu;

/** Parameters that name a visit. */
const VISIT = /^(phpsessid|jsessionid|sessionid|session_id|sid|aspsessionid\w*)$/iu;

/** What is no page by its name; its server says so as well, but only after a request. */
const NO_PAGE =
  /\.(?:7z|apk|avi|bin|bmp|bz2|css|dmg|docx?|eot|epub|exe|gif|gz|ico|iso|jar|jpe?g|js|map|mjs|mov|mp[34]|mpe?g|msi|od[pst]|ogg|otf|pdf|png|pptx?|rar|rpm|svg|tar|tgz|tiff?|ttf|wav|web[mp]|woff2?|xlsx?|xz|zip)$/iu;

const MAX_LENGTH = 1_000;
const MAX_SEGMENTS = 12;
const MAX_PARAMETERS = 6;
/** So often may one name appear in a path: relative links that lead ever deeper repeat theirs. */
const MAX_REPEATS = 2;

/** The URL as it is asked for: without fragment, and without what only tracks. */
export function tidy(url: URL): URL {
  const tidied = new URL(url);
  tidied.hash = '';
  // From a copy, as one is read; and only where there is something: deleting spells the whole query anew.
  for (const name of url.searchParams.keys())
    if (TRACKING.test(name) || VISIT.test(name)) tidied.searchParams.delete(name);
  tidied.pathname = url.pathname.replace(/;jsessionid=[^/]*/giu, '');
  if (tidied.search === '') tidied.search = '';
  return tidied;
}

/** Equal for two URLs that name one page. */
export function pageKey(url: URL): string {
  const key = tidy(url);
  key.searchParams.sort();
  return key.href;
}

export function looksLikeTrap(url: URL): boolean {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  return (
    url.href.length > MAX_LENGTH ||
    segments.length > MAX_SEGMENTS ||
    [...url.searchParams.keys()].length > MAX_PARAMETERS ||
    segments.some((segment) => segments.filter((other) => other === segment).length > MAX_REPEATS)
  );
}

export function looksLikePage(url: URL): boolean {
  return !NO_PAGE.test(url.pathname);
}
