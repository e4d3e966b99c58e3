/** Finds the passages of a text that match a query. */
import { truncate } from '../truncate.ts';
import type { QueryWords } from './query-words.ts';

const MAX_PASSAGES = 5;
const MAX_CHARACTERS = 800;

/** Returns the best passages in text order; an empty list if no passage has enough query words. */
export function passagesOf(text: string, query: QueryWords): string[] {
  return blocksOf(text)
    .map((block, order) => ({ block, order, matches: query.matches(block) }))
    .filter(({ matches }) => matches >= query.enough)
    .toSorted((a, b) => b.matches - a.matches || a.order - b.order)
    .slice(0, MAX_PASSAGES)
    .toSorted((a, b) => a.order - b.order)
    .map(({ block }) => (block.length > MAX_CHARACTERS ? `${truncate(block, MAX_CHARACTERS)}…` : block));
}

/** Splits a text into paragraphs, each with the headings above it. */
function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let headings = '';
  for (const paragraph of text.split(/\n{2,}/u)) {
    if (/^#{1,6} [^\n]*$/u.test(paragraph)) headings += `${paragraph}\n`;
    else {
      blocks.push(headings + paragraph);
      headings = '';
    }
  }
  return headings === '' ? blocks : [...blocks, headings.trimEnd()];
}
