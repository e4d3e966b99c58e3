/** Counts the words of a crawl query in a text, and finds the passages that match. */
import { ellipsize } from '../../../../shared/text/shortened-text.ts';

/** The maximum number of query words. More words do not improve the result, so further words are ignored. */
const MAX_WORDS = 20;

/** Matches scripts without spaces between words. A word in such a script may match anywhere. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

export class QueryWords {
  readonly #words: readonly string[];

  constructor(text: string) {
    const words = [...new Set(wordsOf(text))];
    // Short words are mostly function words, such as "of", so they are ignored.
    const long = words.filter((word) => word.length > 2 || UNSPACED.test(word));
    this.#words = (long.length > 0 ? long : words).slice(0, MAX_WORDS);
  }

  /** Counts the query words that occur in the text; `aborted` matches `abort`. Ignores URLs in the text. */
  matches(text: string): number {
    const folded = fold(text.replaceAll(/https?:\/\/\S+/giu, ' '));
    const words = new Set(wordsOf(folded));
    return this.#words.filter((word) =>
      UNSPACED.test(word) ? folded.includes(word) : [...words].some((other) => isSame(word, other)),
    ).length;
  }

  /** The minimum number of different query words in a passage that matches. */
  get enough(): number {
    return Math.max(1, Math.ceil(this.#words.length / 2));
  }
}

/** Compares words without their endings, because most languages with spaces inflect words at the end. */
function isSame(word: string, other: string): boolean {
  if (word === other) return true;
  if (word.length < 3 || other.length < 3) return false;
  return (
    other.startsWith(word) || (other.length > 3 && word.length - other.length <= 3 && word.startsWith(other))
  );
}

function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

function fold(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

const MAX_PASSAGES = 5;
const MAX_CHARACTERS = 800;

/** Returns the best passages in text order. Returns an empty list if no passage has enough query words. */
export function bestPassages(text: string, query: QueryWords): string[] {
  return blocksOf(text)
    .map((block, order) => ({ block, order, matches: query.matches(block) }))
    .filter(({ matches }) => matches >= query.enough)
    .toSorted((a, b) => b.matches - a.matches || a.order - b.order)
    .slice(0, MAX_PASSAGES)
    .toSorted((a, b) => a.order - b.order)
    .map(({ block }) => ellipsize(block, MAX_CHARACTERS));
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
