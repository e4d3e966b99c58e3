/**
 * Estimates how many tokens a text costs a model, without any model's vocabulary. A byte-pair tokenizer needs one token
 * for a common word. For other text it needs about one token for two or three letters or digits. Pure.
 */

/**
 * Runs of characters that tokenizers do not join: words, capitals, digits, punctuation, line feeds, and all non-ASCII
 * text.
 */
const RUNS = /[A-Z]?[a-z]+|[A-Z]+|\d+|[!-/:-@[-`{-~]+|\n+|[^\0-\x7F]+/g;

/** A run with vowels at the positions that are normal in words. */
const WORDLIKE = /^[A-Z]?(?:[^aeiouy]{0,3}[aeiouy])+[^aeiouy]{0,3}$/;

/** For the bridge's own text, which uses common words. */
export function wordingTokens(text: string): number {
  return counted(text, (run) => (/^[A-Za-z]/.test(run) ? 1 : Math.ceil(run.length / 3)));
}

/** An upper bound for foreign text, which may be anything: hashes, Chinese or emoji. */
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
