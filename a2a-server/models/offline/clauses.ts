/**
 * Splits a text into clauses, one per step: at line ends, at `;` and at the word `then`, but never inside quotes.
 * A JSON object that starts a clause is a clause of its own. One pass, linear in the text (X3).
 */
import { jsonEnd } from './json-end.ts';
import { QuoteReader } from './quoted.ts';

export type Token =
  | { type: 'word'; text: string; start: number; end: number }
  /** `colon`: a colon stands right after the closing quote. Other punctuation there is nobody's. */
  | { type: 'quoted'; text: string; start: number; end: number; fence: boolean; colon: boolean };

export type Clause = { type: 'words'; tokens: Token[]; source: string } | { type: 'json'; source: string };

const SPACE = /\s/;
const WORD_END = /[\s;]/;
const AFTER_QUOTE = /[.,:!?]{1,3}(?=[\s;]|$)/y;
/** A word after which a fenced block on the next line still belongs to the clause. */
const AWAITS_FENCE = /:$|^(?:with|containing|content|contents|text|to)$/i;

export function splitClauses(source: string): Clause[] {
  const quotes = new QuoteReader(source);
  const clauses: Clause[] = [];
  let tokens: Token[] = [];
  const flush = (): void => {
    if (tokens.length > 0) clauses.push({ type: 'words', tokens, source });
    tokens = [];
  };
  let at = 0;
  while (at < source.length) {
    const char = source.charAt(at);
    if (char === ';' || (char === '\n' && !goesOn(tokens, source, at))) {
      flush();
      at += 1;
    } else if (SPACE.test(char)) at += 1;
    else if (char === '{' && tokens.length === 0) {
      const end = jsonEnd(source, at);
      clauses.push({ type: 'json', source: source.slice(at, end) });
      at = end;
    } else {
      const { token, next } = tokenAt(source, at, quotes);
      if (token.type === 'word' && isThen(token.text)) {
        dropConjunction(tokens);
        flush();
      } else tokens.push(token);
      at = next;
    }
  }
  flush();
  return clauses;
}

/** What the tokens say as it was written, from the `from`-th to the last. */
export function written(
  clause: Extract<Clause, { type: 'words' }>,
  from = 0,
  to = clause.tokens.length,
): string {
  const first = clause.tokens[from];
  const last = clause.tokens[to - 1];
  return first === undefined || last === undefined || to <= from
    ? ''
    : clause.source.slice(first.start, last.end);
}

function tokenAt(source: string, start: number, quotes: QuoteReader): { token: Token; next: number } {
  const quoted = quotes.at(start);
  if (quoted !== undefined) {
    AFTER_QUOTE.lastIndex = quoted.end;
    const after = AFTER_QUOTE.exec(source)?.[0] ?? '';
    return {
      token: { type: 'quoted', start, ...quoted, colon: after.endsWith(':') },
      next: quoted.end + after.length,
    };
  }
  let end = start + 1;
  while (end < source.length && !WORD_END.test(source.charAt(end))) end += 1;
  return { token: { type: 'word', text: source.slice(start, end), start, end }, next: end };
}

function isThen(word: string): boolean {
  return /^then[,:]?$/i.test(word);
}

/** Whether the line end at `at` is inside the clause: a fenced block follows that the clause asks for. */
function goesOn(tokens: readonly Token[], source: string, at: number): boolean {
  const last = tokens.at(-1);
  return last?.type === 'word' && AWAITS_FENCE.test(last.text) && /^\s*```/.test(source.slice(at, at + 100));
}

/** `…, and then`: neither the comma nor the `and` belongs to what stands before. */
function dropConjunction(tokens: Token[]): void {
  const last = tokens.at(-1);
  if (last?.type === 'word' && /^and$/i.test(last.text)) tokens.pop();
  const word = tokens.at(-1);
  if (word?.type !== 'word' || !/[,.]$/.test(word.text)) return;
  tokens.pop();
  if (word.text.length > 1) tokens.push({ ...word, text: word.text.slice(0, -1), end: word.end - 1 });
}
