/** Reading one clause word by word: what the verbs of the language share. */
import { written, type Clause, type Token } from './clauses.ts';

export type Words = Extract<Clause, { type: 'words' }>;

/** A clause that is no step: why, as the end of a sentence that starts `I did not understand “…”:`. */
export class Unclear {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** The token as a lower-case word without the punctuation after it; empty for quoted text. */
export function wordOf(token: Token | undefined): string {
  return token?.type === 'word' ? token.text.toLowerCase().replace(/[.,:!?]$/, '') : '';
}

/** Whether a colon stands after the token. */
export function hasColon(token: Token | undefined): boolean {
  return token?.type === 'quoted' ? token.colon : (token?.text.endsWith(':') ?? false);
}

/** The first index at or after `from` whose word is none of `noise`. */
export function skip(words: Words, from: number, noise: ReadonlySet<string>): number {
  let at = from;
  while (noise.has(wordOf(words.tokens[at]))) at += 1;
  return at;
}

/** A file name, pattern or directory: quoted, or one word without the punctuation after it. */
export function nameOf(token: Token): string {
  if (token.type === 'quoted') return token.text;
  const bare = token.text.replace(/[,.:!?]{1,9}$/, '');
  return bare === '' || /^[./]+$/.test(token.text) ? token.text : bare;
}

/** Text to write or say: the quoted text, or what was written up to `to`. Quoted text with more after it is unclear. */
export function textOf(words: Words, from: number, to = words.tokens.length): string | Unclear {
  const first = words.tokens[from];
  if (first?.type !== 'quoted') return written(words, from, to);
  const next = words.tokens[from + 1];
  if (next === undefined || from + 1 >= to) return first.text;
  return new Unclear(`more follows the closing quote: “${excerpt(written(words, from + 1, to))}”`);
}

/** A command or the like, where quotes may be part of it: taken as written, unless it is one quoted text. */
export function literalOf(words: Words, from: number): string {
  const only = words.tokens[from];
  return only?.type === 'quoted' && words.tokens.length === from + 1 ? only.text : written(words, from);
}

/** Cut for showing. */
export function excerpt(text: string, length = 120): string {
  const line = text
    .slice(0, length * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > length || text.length > length * 2 ? `${line.slice(0, length)}…` : line;
}
