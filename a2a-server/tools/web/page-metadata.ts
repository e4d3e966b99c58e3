/** Collects the title, the canonical URL and the links of a page from its tags. */
import { parseUrl } from '../../../shared/net/parse-url.ts';

export interface WebLink {
  url: URL;
  text: string;
}

const MAX_LINKS = 1_000;
const MAX_TEXT_CHARS = 300;

export class WebPageMetadata {
  readonly #url: URL;
  #title: string | undefined;
  #inTitle = false;
  #base: URL | undefined;
  #canonical: string | undefined;
  #follow = true;
  /** The link element that is open now. `hint` replaces a missing link text. */
  #open: { href: string; text: string; hint: string } | undefined;
  readonly #links: { href: string; text: string }[] = [];

  constructor(url: URL) {
    this.#url = url;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const { href, rel = '', content = '' } = attributes;
    if (name === 'title') this.#inTitle = this.#title === undefined;
    else if (name === 'base') this.#base ??= absoluteLinkUrl(href ?? '', this.#url);
    else if (name === 'link' && splitWords(rel).includes('canonical')) this.#canonical ??= href;
    else if (name === 'meta' && attributes['name']?.toLowerCase() === 'robots') {
      if (splitWords(content).some((word) => word === 'nofollow' || word === 'none')) this.#follow = false;
    } else if (name === 'a' || name === 'area') {
      this.#endLink();
      if (href !== undefined && !splitWords(rel).includes('nofollow'))
        this.#open = { href, text: '', hint: attributes['alt'] ?? attributes['title'] ?? '' };
    }
  }

  text(text: string): void {
    if (this.#inTitle) this.#title = ((this.#title ?? '') + text).slice(0, MAX_TEXT_CHARS);
    if (this.#open !== undefined) this.#open.text = (this.#open.text + text).slice(0, MAX_TEXT_CHARS);
  }

  close(name: string): void {
    if (name === 'title') this.#inTitle = false;
    if (name === 'a' || name === 'area') this.#endLink();
  }

  /** The base URL for links. The page's `base` element overrides the page's URL. */
  get base(): URL {
    return this.#base ?? this.#url;
  }

  /** Returns the metadata. Omits links that the page marks as nofollow. */
  found(): { title: string; canonical: URL | undefined; links: WebLink[] } {
    this.#endLink();
    const canonical = this.#canonical === undefined ? undefined : absoluteLinkUrl(this.#canonical, this.base);
    const links = this.#links.flatMap(({ href, text }) => {
      const url = absoluteLinkUrl(href, this.base);
      return url === undefined ? [] : [{ url, text: oneSpaced(text) }];
    });
    return { title: oneSpaced(this.#title ?? ''), canonical, links: this.#follow ? links : [] };
  }

  #endLink(): void {
    if (this.#open !== undefined && this.#links.length < MAX_LINKS)
      this.#links.push({ href: this.#open.href, text: this.#open.text.trim() || this.#open.hint });
    this.#open = undefined;
  }
}

function splitWords(text: string): string[] {
  return text.toLowerCase().split(/[\s,]+/u);
}

function oneSpaced(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}

/** Returns an absolute URL without fragment. Returns undefined for other schemes, e.g. `mailto:` and `javascript:`. */
export function absoluteLinkUrl(href: string, base: URL): URL | undefined {
  const url = parseUrl(href, base);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
  url.hash = '';
  return url;
}
