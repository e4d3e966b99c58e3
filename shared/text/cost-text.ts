/** Writes tokens and dollars for a person. Pure. */

export interface TokenCost {
  inputTokens: number;
  outputTokens: number;
  /** The part of the input tokens that the provider read from its cache. Absent if there are none. */
  cachedInputTokens?: number | undefined;
  /** The part of the input tokens that the provider wrote to its cache. Absent if there are none. */
  cacheWriteTokens?: number | undefined;
  /** In US dollars; null if unknown. Absent if a report has no room for it. */
  usd?: number | null | undefined;
}

/** E.g. `900 tokens in (500 read from the cache), 40 out, $0.2500`. */
export function tokensAndPrice(cost: TokenCost): string {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0, usd } = cost;
  const cached = [
    cachedInputTokens === 0 ? '' : `${cachedInputTokens} read from the cache`,
    cacheWriteTokens === 0 ? '' : `${cacheWriteTokens} written to the cache`,
  ].filter((part) => part !== '');
  const of = cached.length === 0 ? '' : ` (${cached.join(', ')})`;
  const price = usd === undefined ? '' : usd === null ? ', price unknown' : `, ${dollars(usd)}`;
  return `${inputTokens} tokens in${of}, ${outputTokens} out${price}`;
}

export function hasTokens({ inputTokens, outputTokens }: TokenCost): boolean {
  return inputTokens > 0 || outputTokens > 0;
}

/** An amount in US dollars: two decimals, or four below one dollar. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
