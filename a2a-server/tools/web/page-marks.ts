/** What a page says of itself and where it leads, read off its tags in one pass. */
import { Parser } from 'htmlparser2';
import { linkTarget } from './link-target.ts';

export interface PageLink {
  url: URL;
  /** What a person would click on. */
  text: string;
}

export interface PageMarks {
  title: string;
  /** What links are relative to: the page's own URL, unless it says otherwise. */
  base: URL;
  /** The URL the page would rather be known by. */
  canonical: URL | undefined;
  /** Without those a page asks robots not to follow. */
  links: PageLink[];
}

/** Deeper is made by no person, and costs the square of the depth to read. */
const MAX_DEPTH = 1_000;
const MAX_LINKS = 1_000;
const MAX_TEXT = 300;

/** @throws Error when elements are nested too deep. */
export function pageMarks(html: string, url: URL): PageMarks {
  const reader = new MarkReader(url);
  const parser = new Parser({
    onopentag: (name, attributes) => reader.open(name, attributes),
    ontext: (text) => reader.text(text),
    onclosetag: (name) => reader.close(name),
  });
  parser.end(html);
  return reader.marks();
}

class MarkReader {
  readonly #url: URL;
  #depth = 0;
  #title: string | undefined;
  #inTitle = false;
  #base: URL | undefined;
  #canonical: string | undefined;
  #follow = true;
  #open: { href: string; text: string } | undefined;
  readonly #links: { href: string; text: string }[] = [];

  constructor(url: URL) {
    this.#url = url;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Error(`The page nests its elements more than ${MAX_DEPTH} deep.`);
    const { href, rel = '', content = '' } = attributes;
    if (name === 'title') this.#inTitle = this.#title === undefined;
    else if (name === 'base') this.#base ??= linkTarget(href ?? '', this.#url);
    else if (name === 'link' && words(rel).includes('canonical')) this.#canonical ??= href;
    else if (name === 'meta' && attributes['name']?.toLowerCase() === 'robots') {
      if (words(content).some((word) => word === 'nofollow' || word === 'none')) this.#follow = false;
    } else if (name === 'a' || name === 'area') {
      this.#endLink();
      if (href !== undefined && !words(rel).includes('nofollow'))
        this.#open = { href, text: attributes['alt'] ?? attributes['title'] ?? '' };
    }
  }

  text(text: string): void {
    if (this.#inTitle) this.#title = ((this.#title ?? '') + text).slice(0, MAX_TEXT);
    if (this.#open !== undefined) this.#open.text = (this.#open.text + text).slice(0, MAX_TEXT);
  }

  close(name: string): void {
    this.#depth -= 1;
    if (name === 'title') this.#inTitle = false;
    if (name === 'a' || name === 'area') this.#endLink();
  }

  marks(): PageMarks {
    this.#endLink();
    const base = this.#base ?? this.#url;
    const canonical = this.#canonical === undefined ? undefined : linkTarget(this.#canonical, base);
    const links = this.#links.flatMap(({ href, text }) => {
      const url = linkTarget(href, base);
      return url === undefined ? [] : [{ url, text: oneSpaced(text) }];
    });
    return { title: oneSpaced(this.#title ?? ''), base, canonical, links: this.#follow ? links : [] };
  }

  #endLink(): void {
    if (this.#open !== undefined && this.#links.length < MAX_LINKS) this.#links.push(this.#open);
    this.#open = undefined;
  }
}

function words(text: string): string[] {
  return text.toLowerCase().split(/[\s,]+/u);
}

function oneSpaced(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}
