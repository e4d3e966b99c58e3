export interface TokensAndPrice {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
  /** The cost in US dollars. Null if unknown. If absent, the text does not mention the cost. */
  usd?: number | null | undefined;
}

/** Returns a text such as `900 tokens in (500 read from the cache), 40 out, $0.2500`. */
export function tokensAndPriceText(cost: TokensAndPrice): string {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0, usd } = cost;
  const cached = [
    cachedInputTokens === 0 ? '' : `${cachedInputTokens} read from the cache`,
    cacheWriteTokens === 0 ? '' : `${cacheWriteTokens} written to the cache`,
  ].filter((part) => part !== '');
  const of = cached.length === 0 ? '' : ` (${cached.join(', ')})`;
  const price = usd === undefined ? '' : usd === null ? ', price unknown' : `, ${dollarsText(usd)}`;
  return `${inputTokens} tokens in${of}, ${outputTokens} out${price}`;
}

/**
 * Returns the number of a turn, e.g. `3`, or `summary` for a summary of the conversation.
 * @param turn null for a summary
 */
export function costRequestLabel({ turn }: { turn: number | null }): string {
  return turn === null ? 'summary' : String(turn);
}

export function requestPriceText({ usd }: { usd: number | null }): string {
  return usd === null ? 'unknown' : dollarsText(usd);
}

export function hasTokens({ inputTokens, outputTokens }: TokensAndPrice): boolean {
  return inputTokens > 0 || outputTokens > 0;
}

/** Formats US dollars with two decimals, or with four decimals below one dollar. */
export function dollarsText(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
