/**
 * Estimates the number of tokens of a text without the vocabulary of a model. A byte-pair tokenizer needs one token for
 * a common word, and about one token for two or three characters of other text. Pure.
 */

/**
 * Matches a run of characters that a tokenizer does not join with its neighbours: a word, capitals, digits,
 * punctuation, line feeds, or non-ASCII text.
 */
const RUNS = /[A-Z]?[a-z]+|[A-Z]+|\d+|[!-/:-@[-`{-~]+|\n+|[^\0-\x7F]+/g;

/** Matches a run of letters that looks like a word: it has a vowel after at most three consonants. */
const WORDLIKE = /^[A-Z]?(?:[^aeiouy]{0,3}[aeiouy])+[^aeiouy]{0,3}$/;

/** The maximum number of texts whose estimate is cached. The reports of one session mostly repeat the same texts. */
const MAX_CACHED_TEXTS = 500;

/** Estimates the tokens of text that the bridge wrote: one token for each word. */
export const bridgeTextTokens = cacheEstimates((text) =>
  countTokens(text, (run) => (isLetter(run.charCodeAt(0)) ? 1 : Math.ceil(run.length / 3))),
);

/**
 * Estimates the tokens of text that an agent wrote. The estimate is high, because the text may contain what needs many
 * tokens: hashes, Chinese or emoji.
 */
export const agentTextTokens = cacheEstimates((text) =>
  countTokens(text, (run) => {
    // The number of bytes is an upper limit, because each token has at least one byte.
    if (run.charCodeAt(0) > 0x7f) return Buffer.byteLength(run);
    return Math.ceil(run.length / (WORDLIKE.test(run) ? 4 : 2));
  }),
);

function cacheEstimates(estimate: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size === MAX_CACHED_TEXTS) known.clear();
    const tokens = estimate(text);
    known.set(text, tokens);
    return tokens;
  };
}

function countTokens(text: string, cost: (run: string) => number): number {
  let tokens = 0;
  // `matchAll` is not used, because it would copy the pattern for each text, and one status counts many texts.
  RUNS.lastIndex = 0;
  for (let found = RUNS.exec(text); found !== null; found = RUNS.exec(text)) tokens += cost(found[0]);
  return tokens;
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
