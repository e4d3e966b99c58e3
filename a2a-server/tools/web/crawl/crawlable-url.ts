const TRACKING_PARAMETER = /^(utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|yclid|ref_src|_ga|_gl)$/iu;

const SESSION_ID_PARAMETER = /^(phpsessid|jsessionid|sessionid|session_id|sid|aspsessionid\w*)$/iu;

/** Matches the extensions of files that are not pages. This check saves a request. */
const NO_PAGE =
  /\.(?:7z|apk|avi|bin|bmp|bz2|css|dmg|docx?|eot|epub|exe|gif|gz|ico|iso|jar|jpe?g|js|map|mjs|mov|mp[34]|mpe?g|msi|od[pst]|ogg|otf|pdf|png|pptx?|rar|rpm|svg|tar|tgz|tiff?|ttf|wav|web[mp]|woff2?|xlsx?|xz|zip)$/iu;

const MAX_URL_CHARS = 1_000;
const MAX_SEGMENTS = 12;
const MAX_PARAMETERS = 6;
/**
 * The maximum number of repetitions of a name in a path. Relative links can produce endless paths that repeat a name.
 */
const MAX_REPEATS = 2;

/** Removes the fragment, tracking parameters and session ids. */
export function normalizedPageUrl(url: URL): URL {
  const tidied = new URL(url);
  tidied.hash = '';
  // The loop deletes only names that exist, because each `delete` rewrites the whole query. It reads the names from
  // the original URL, because `delete` changes the copy.
  for (const name of url.searchParams.keys())
    if (TRACKING_PARAMETER.test(name) || SESSION_ID_PARAMETER.test(name)) tidied.searchParams.delete(name);
  tidied.pathname = url.pathname.replace(/;jsessionid=[^/]*/giu, '');
  if (tidied.search === '') tidied.search = '';
  return tidied;
}

/** Returns the same key for all URLs of one page. */
export function canonicalPageKey(url: URL): string {
  const key = normalizedPageUrl(url);
  key.searchParams.sort();
  return key.href;
}

export function looksLikeCrawlerTrap(url: URL): boolean {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  return (
    url.href.length > MAX_URL_CHARS ||
    segments.length > MAX_SEGMENTS ||
    [...url.searchParams.keys()].length > MAX_PARAMETERS ||
    segments.some((segment) => segments.filter((other) => other === segment).length > MAX_REPEATS)
  );
}

export function looksLikeWebPage(url: URL): boolean {
  return !NO_PAGE.test(url.pathname);
}
