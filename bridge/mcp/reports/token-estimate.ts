/**
 * How many tokens a text costs a model, without any model's vocabulary. Tokenizers of the byte-pair kind spend one token
 * on a common word, and about one on each two or three letters or digits of what is no word. Pure.
 */

/** Runs that tokenizers do not join: words, capitals, digits, signs, lines, and everything beyond ASCII. */
const RUNS = /[A-Z]?[a-z]+|[A-Z]+|\d+|[!-/:-@[-`{-~]+|\n+|[^\0-\x7F]+/g;

/** Has its vowels where words have them. */
const WORDLIKE = /^[A-Z]?(?:[^aeiouy]{0,3}[aeiouy])+[^aeiouy]{0,3}$/;

/** Of our own words, which are common ones. */
export function wordingTokens(text: string): number {
  return counted(text, (run) => (/^[A-Za-z]/.test(run) ? 1 : Math.ceil(run.length / 3)));
}

/** At most; of a text that others have written, which may be anything: hashes, Chinese, or faces. */
export function foreignTokens(text: string): number {
  return counted(text, (run) => {
    // A token is at least one byte.
    if (run.charCodeAt(0) > 0x7f) return Buffer.byteLength(run);
    return Math.ceil(run.length / (WORDLIKE.test(run) ? 4 : 2));
  });
}

function counted(text: string, cost: (run: string) => number): number {
  let tokens = 0;
  for (const [run] of text.matchAll(RUNS)) tokens += cost(run);
  return tokens;
}
