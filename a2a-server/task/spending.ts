/** The cost of a task's turns: tokens, and money if the price is known. Pure. */
import type { Usage } from './events.ts';

/** The tokens of one or more turns, and their cost in US dollars. The cost is null if any price is unknown. */
export interface Spending extends Usage {
  usd: number | null;
}

export const NO_SPENDING: Spending = { inputTokens: 0, outputTokens: 0, usd: 0 };

/** Prices in US dollars per million tokens. */
export interface Rates {
  input: number;
  output: number;
  /** The price of input tokens from the provider's cache. The default is `input`. */
  cachedInput?: number | undefined;
  /** The price of input tokens that the provider writes to its cache. The default is `input`. */
  cacheWrite?: number | undefined;
}

export interface Price extends Rates {
  /** The rates of a turn with more than `above` input tokens. */
  longPrompt?: (Rates & { above: number }) | undefined;
}

const MILLION = 1_000_000;

/**
 * Computes the cost of one turn. The rates may depend on the length of its prompt.
 * @returns undefined if the price is unknown. Zero tokens cost nothing.
 */
export function costOf(usage: Usage, price: Price | undefined): number | undefined {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  if (inputTokens + outputTokens === 0) return 0;
  if (price === undefined) return undefined;
  const { longPrompt } = price;
  const rates = longPrompt !== undefined && inputTokens > longPrompt.above ? longPrompt : price;
  const { input, output, cachedInput = input, cacheWrite = input } = rates;
  const fresh = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  const cache = cachedInputTokens * cachedInput + cacheWriteTokens * cacheWrite;
  return (fresh * input + cache + outputTokens * output) / MILLION;
}

/** @param usd the cost from the event */
export function spendingOf(usage: Usage, usd: number | undefined): Spending {
  return { ...usage, usd: usd ?? costOf(usage, undefined) ?? null };
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

/** The costs of the models, by model id. */
export type SpendingByModel = Readonly<Record<string, Spending>>;

export function addModelSpending(
  spending: SpendingByModel,
  model: string,
  { usage, usd }: { usage: Usage; usd?: number },
): SpendingByModel {
  const before = Object.hasOwn(spending, model) ? spending[model] : undefined;
  return { ...spending, [model]: addSpending(before ?? NO_SPENDING, spendingOf(usage, usd)) };
}
