/** Writes tokens and cost for a person. Pure. */
interface ReportedTokens {
  inputTokens: number;
  outputTokens: number;
  /** The cached tokens are a part of the input tokens. */
  cachedInputTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
  /** In US dollars; null if unknown. Absent if the report has no room for it. */
  usd?: number | null | undefined;
}

interface ReportedCost extends ReportedTokens {
  turns: number;
  /** All tasks of the session. */
  session?: ReportedTokens | undefined;
}

/** Returns '' for an agent that counts no tokens. */
export function costLine(cost: ReportedCost): string {
  const { turns, inputTokens, outputTokens, session } = cost;
  const counted = inputTokens > 0 || outputTokens > 0;
  return [
    counted ? `Cost: ${String(turns)} turns, ${tokensAndPrice(cost)}.` : '',
    session === undefined ? '' : `All tasks of the session: ${tokensAndPrice(session)}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

function tokensAndPrice(tokens: ReportedTokens): string {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0, usd } = tokens;
  const cached = [
    cachedInputTokens === 0 ? '' : `${String(cachedInputTokens)} read from the cache`,
    cacheWriteTokens === 0 ? '' : `${String(cacheWriteTokens)} written to the cache`,
  ].filter((part) => part !== '');
  const of = cached.length === 0 ? '' : ` (${cached.join(', ')})`;
  return `${String(inputTokens)} tokens in${of}, ${String(outputTokens)} out${price(usd)}`;
}

/** Returns '' if the report has no price. */
function price(usd: number | null | undefined): string {
  if (usd === undefined) return '';
  return usd === null ? ', price unknown' : `, ${dollars(usd)}`;
}

/** An amount in US dollars: two decimals, or four below one dollar. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
