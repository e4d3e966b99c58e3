/**
 * Quoted text: where it ends and what it says.
 *
 * A quote opens at the start of a word only, so that the apostrophe of `don't` is a letter, and closes before a space,
 * the end, or punctuation. A quote that never closes is a letter too. Each kind of quote is searched to the end of the
 * text at most once without success, which keeps reading linear on hostile input (X3).
 */
const FENCE = '```';
const CLOSES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’' };
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\' };
const AFTER_CLOSE = /[\s.,;:!?)]/;

export interface Quoted {
  /** What stands between the quotes, escapes resolved. */
  text: string;
  /** Index after the closing quote. */
  end: number;
  fence: boolean;
}

/** Reads the quoted texts of one source. Stateful only to remember which quotes are known never to close. */
export class QuoteReader {
  readonly #source: string;
  readonly #unclosed = new Set<string>();

  constructor(source: string) {
    this.#source = source;
  }

  /** @returns the quoted text that opens at `start`, or undefined when none does. */
  at(start: number): Quoted | undefined {
    const source = this.#source;
    if (source.startsWith(FENCE, start))
      return this.#inlineFence(start) ?? this.#once(FENCE, () => this.#fence(start));
    const open = source.charAt(start);
    const close = CLOSES[open];
    if (close === undefined) return undefined;
    return this.#once(open, () => this.#plain(start, open, close));
  }

  #once(kind: string, read: () => Quoted | undefined): Quoted | undefined {
    if (this.#unclosed.has(kind)) return undefined;
    const quoted = read();
    if (quoted === undefined) this.#unclosed.add(kind);
    return quoted;
  }

  #plain(start: number, open: string, close: string): Quoted | undefined {
    const source = this.#source;
    const escapes = open === '"';
    for (let at = start + 1; at < source.length; at += 1) {
      const char = source.charAt(at);
      if (escapes && char === '\\') at += 1;
      else if (char === close && closes(source, at + 1)) {
        const inner = source.slice(start + 1, at);
        return { text: escapes ? unescape(inner) : inner, end: at + 1, fence: false };
      }
    }
    return undefined;
  }

  /** Three backticks around something on one line. */
  #inlineFence(start: number): Quoted | undefined {
    const from = start + FENCE.length;
    const close = this.#source.indexOf(FENCE, from);
    if (close === -1) return undefined;
    const text = this.#source.slice(from, close);
    return text.includes('\n') ? undefined : { text, end: close + FENCE.length, fence: true };
  }

  /** A Markdown fence: its text is the lines between the opening line and the next that starts with three backticks. */
  #fence(start: number): Quoted | undefined {
    const source = this.#source;
    const line = source.indexOf('\n', start);
    const close = line === -1 ? -1 : source.indexOf(`\n${FENCE}`, line);
    if (close === -1) return undefined;
    const text = source.slice(line + 1, Math.max(close, line) + 1).replaceAll('\r\n', '\n');
    return { text, end: close + 1 + FENCE.length, fence: true };
  }
}

function closes(source: string, at: number): boolean {
  return at >= source.length || AFTER_CLOSE.test(source.charAt(at));
}

function unescape(text: string): string {
  return text.replace(/\\([\s\S])/g, (whole, char: string) => ESCAPES[char] ?? whole);
}
