/** The verbs that read the web: fetch, crawl. */
import type { PlannedCall } from './step.ts';
import { TOOL } from './tool-names.ts';
import { nameOf, skip, textOf, Unclear, wordOf, type Words } from './words.ts';

const BEFORE_URL = new Set(['the', 'page', 'site', 'url', 'website']);
const PAGES = new Set(['page', 'pages']);

/** `fetch URL` */
export function fetchPage(words: Words, from: number): PlannedCall | Unclear {
  const at = skip(words, from, BEFORE_URL);
  const url = words.tokens[at];
  return url === undefined || words.tokens.length > at + 1
    ? new Unclear('expected one URL')
    : { tool: TOOL.fetch, input: { url: nameOf(url) } };
}

/** `crawl URL for TEXT [up to N pages]` */
export function crawl(words: Words, from: number): PlannedCall | Unclear {
  const at = skip(words, from, BEFORE_URL);
  const url = words.tokens[at];
  if (url === undefined || wordOf(words.tokens[at + 1]) !== 'for' || words.tokens[at + 2] === undefined)
    return new Unclear('expected a URL, `for`, and what to look for');
  const limit = limitOf(words);
  const query = textOf(words, at + 2, limit?.at);
  if (query instanceof Unclear) return query;
  return {
    tool: TOOL.crawl,
    input: { url: nameOf(url), query, ...(limit && { maxPages: limit.pages }) },
  };
}

/** `… up to N pages`, at the end, and where it begins. */
function limitOf({ tokens }: Words): { at: number; pages: number } | undefined {
  const at = tokens.length - 4;
  const [up, to, count, noun] = tokens.slice(Math.max(at, 0)).map(wordOf);
  if (up !== 'up' || to !== 'to' || !PAGES.has(noun ?? '') || !/^\d{1,6}$/.test(count ?? ''))
    return undefined;
  return { at, pages: Number(count) };
}
