/** Decides which URLs are the same page, and which URLs look like an endless trap. */

/** Parameters for tracking, which do not change the page. */
const TRACKING = /^(utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|yclid|ref_src|_ga|_gl)$/iu;

/** Parameters that contain a session id. */
const VISIT = /^(phpsessid|jsessionid|sessionid|session_id|sid|aspsessionid\w*)$/iu;

/** File extensions that are no pages. This check saves a request. */
const NO_PAGE =
  /\.(?:7z|apk|avi|bin|bmp|bz2|css|dmg|docx?|eot|epub|exe|gif|gz|ico|iso|jar|jpe?g|js|map|mjs|mov|mp[34]|mpe?g|msi|od[pst]|ogg|otf|pdf|png|pptx?|rar|rpm|svg|tar|tgz|tiff?|ttf|wav|web[mp]|woff2?|xlsx?|xz|zip)$/iu;

const MAX_LENGTH = 1_000;
const MAX_SEGMENTS = 12;
const MAX_PARAMETERS = 6;
/** Maximum number of times that a path may repeat one name. A trap of relative links repeats names without end. */
const MAX_REPEATS = 2;

/** Removes the fragment, tracking parameters and session ids. */
export function withoutTracking(url: URL): URL {
  const tidied = new URL(url);
  tidied.hash = '';
  // Iterate over the original query and delete from the copy. Each delete rewrites the whole query, so delete only
  // existing names.
  for (const name of url.searchParams.keys())
    if (TRACKING.test(name) || VISIT.test(name)) tidied.searchParams.delete(name);
  tidied.pathname = url.pathname.replace(/;jsessionid=[^/]*/giu, '');
  if (tidied.search === '') tidied.search = '';
  return tidied;
}

/** Two URLs of the same page have the same key. */
export function pageKey(url: URL): string {
  const key = withoutTracking(url);
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
