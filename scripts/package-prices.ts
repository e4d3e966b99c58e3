/** Reads models and prices from the package `@pydantic/genai-prices`. */
import { findProvider, type ModelInfo, type ModelPrice } from '@pydantic/genai-prices';

export interface PricedModel {
  id: string;
  /** Other names of the same model. */
  aliases: string[];
  contextWindow: number | undefined;
  /** Undefined if our settings cannot express the price. */
  price: Record<string, unknown> | undefined;
}

/**
 * Returns the models of a provider.
 * @param today ISO date; the prices that apply on this day
 */
export function pricedModels(providerId: string, today: string): { models: PricedModel[]; page: string } {
  const provider = findProvider({ providerId });
  if (provider === undefined) throw new Error(`The package has no provider ${providerId}`);
  const models = provider.models
    .filter(({ deprecated }) => deprecated !== true)
    .map((model) => {
      const { id, context_window: contextWindow } = model;
      // OpenRouter charges nothing for models with `:free`. The package has no rates for them.
      const price = id.endsWith(':free') ? { input: 0, output: 0 } : currentPrice(model, today);
      return { id, aliases: aliasesOf(model), contextWindow, price };
    });
  return { models, page: provider.pricing_urls?.[0] ?? '' };
}

function aliasesOf({ id, match }: ModelInfo): string[] {
  const alternatives = 'or' in match ? match.or : [match];
  return alternatives.flatMap((each) =>
    'equals' in each && isOtherName(each.equals, id) ? [each.equals] : [],
  );
}

/** False for a name with a date, because the server finds such a name by itself. */
function isOtherName(name: string, id: string): boolean {
  return name !== id && !name.startsWith(`${id}-20`) && !name.endsWith(':beta');
}

/** The package still has the prices of 2025 for these names, which DeepSeek uses for newer models. */
const OUTDATED = new Set(['deepseek-chat', 'deepseek-reasoner']);

/** Returns the newest price that has begun, with its rates by the time of day. */
function currentPrice({ id, prices }: ModelInfo, today: string): Record<string, unknown> | undefined {
  if (OUTDATED.has(id)) return undefined;
  if (!Array.isArray(prices)) return priceOf(prices);
  const begun = prices.findLastIndex(({ constraint }) =>
    constraint?.type === 'start_date' ? constraint.start_date <= today : constraint === undefined,
  );
  const base = priceOf(prices[begun]?.prices);
  const hours = prices.slice(begun + 1).flatMap(({ constraint, prices: rates }) =>
    constraint?.type === 'time_of_date'
      ? [
          {
            from: constraint.start_time.slice(0, 5),
            to: constraint.end_time.slice(0, 5),
            ...priceOf(rates),
          },
        ]
      : [],
  );
  return base && hours.length > 0 ? { ...base, hours } : base;
}

/** The names of the rates in the package, and in our settings. */
const RATES = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cachedInput',
  cache_write_mtok: 'cacheWrite',
};

/** @returns undefined if a rate has several steps, which our settings cannot express */
function priceOf(prices: ModelPrice | undefined): Record<string, unknown> | undefined {
  const base: Record<string, number> = {};
  const long: Record<string, number> = {};
  const starts = new Set<number>();
  for (const [key, name] of Object.entries(RATES)) {
    const rate = prices?.[key];
    if (rate === undefined) continue;
    if (typeof rate === 'number') {
      base[name] = rate;
      long[name] = rate;
      continue;
    }
    base[name] = rate.base;
    for (const { start, price } of rate.tiers) {
      starts.add(start);
      long[name] = price;
    }
  }
  if (base['input'] === undefined || base['output'] === undefined || starts.size > 1) return undefined;
  const [above] = starts;
  return above === undefined ? base : { ...base, longPrompt: { above, ...long } };
}
