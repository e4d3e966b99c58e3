/** What a crawl looks for, and how well a text answers it. */

/** More words than these make no query better. */
const MAX_WORDS = 20;

/** Scripts that put no space between words: there a word is looked for anywhere. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

export class Query {
  readonly #words: readonly string[];

  constructor(text: string) {
    const words = [...new Set(wordsOf(text))];
    // Short words are mostly those that hold a sentence together.
    const long = words.filter((word) => word.length > 2 || UNSPACED.test(word));
    this.#words = (long.length > 0 ? long : words).slice(0, MAX_WORDS);
  }

  /** How many of the query's words the text has, each counted once; `aborted` has `abort`. Its links' URLs don't count. */
  matches(text: string): number {
    const folded = fold(text.replaceAll(/https?:\/\/\S+/giu, ' '));
    const words = new Set(wordsOf(folded));
    return this.#words.filter((word) =>
      UNSPACED.test(word) ? folded.includes(word) : [...words].some((other) => isSame(word, other)),
    ).length;
  }

  /** From so many words on, a passage answers the query. */
  get enough(): number {
    return Math.max(1, Math.ceil(this.#words.length / 2));
  }
}

/** Alike but for a few letters at the end: so do words bend in most languages that put spaces between them. */
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

/** Without case and accents. */
function fold(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}
