/** Computes the cost of a task's turns in tokens, and in US dollars if the price is known. Pure. */
import type { TokenUsage } from './events.ts';

/** The cost of one or more turns. `usd` is null if any price is unknown. */
export interface Spending extends TokenUsage {
  usd: number | null;
}

export const NO_SPENDING: Spending = { inputTokens: 0, outputTokens: 0, usd: 0 };

interface TokenRates {
  input: number;
  output: number;
  /** The rate for input tokens from the provider's cache. The default is `input`. */
  cachedInput?: number | undefined;
  /** The rate for input tokens that the provider writes to its cache. The default is `input`. */
  cacheWrite?: number | undefined;
}

export interface Price extends TokenRates {
  /** The rates of a turn with more than `above` input tokens. */
  longPrompt?: (TokenRates & { above: number }) | undefined;
  /**
   * The rates of turns that end at this time of day, in UTC. `from` is included and `to` is not, e.g. `01:00` to
   * `04:00`.
   */
  hours?: readonly (TokenRates & { from: string; to: string })[] | undefined;
}

const MILLION = 1_000_000;

/**
 * Returns the cost of one turn in US dollars. Returns undefined if the price is unknown. Zero tokens cost nothing.
 * @param at the end of the turn, in milliseconds since 1970
 */
export function usageCost(usage: TokenUsage, price: Price | undefined, at: number): number | undefined {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  if (inputTokens + outputTokens === 0) return 0;
  if (price === undefined) return undefined;
  const { input, output, cachedInput = input, cacheWrite = input } = ratesOf(price, inputTokens, at);
  const fresh = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  const cache = cachedInputTokens * cachedInput + cacheWriteTokens * cacheWrite;
  return (fresh * input + cache + outputTokens * output) / MILLION;
}

function ratesOf({ longPrompt, hours = [], ...base }: Price, inputTokens: number, at: number): TokenRates {
  if (longPrompt !== undefined && inputTokens > longPrompt.above) return longPrompt;
  const time = new Date(at).toISOString().slice('2026-01-31T'.length, '2026-01-31T00:00'.length);
  return (
    hours.find(({ from, to }) => (from < to ? from <= time && time < to : from <= time || time < to)) ?? base
  );
}

/** Returns the spending of one turn. @param usd the cost that the event contains */
export function turnSpending(usage: TokenUsage, usd: number | undefined): Spending {
  return { ...usage, usd: usd ?? usageCost(usage, undefined, 0) ?? null };
}

export function addSpending(a: Spending, b: Spending): Spending {
  const cachedInputTokens = (a.cachedInputTokens ?? 0) + (b.cachedInputTokens ?? 0);
  const cacheWriteTokens = (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cachedInputTokens > 0 && { cachedInputTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    usd: a.usd === null || b.usd === null ? null : a.usd + b.usd,
  };
}

export type SpendingByModel = Readonly<Record<string, Spending>>;

export function addModelSpending(
  spending: SpendingByModel,
  model: string,
  { usage, usd }: { usage: TokenUsage; usd?: number },
): SpendingByModel {
  const before = Object.hasOwn(spending, model) ? spending[model] : undefined;
  return { ...spending, [model]: addSpending(before ?? NO_SPENDING, turnSpending(usage, usd)) };
}
