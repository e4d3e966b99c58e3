import type { TaskEvent, TokenUsage } from '../events.ts';

/** The sum of several answered model requests. A request is a finished turn, or a summary of a conversation. */
export interface CostSum extends Required<TokenUsage> {
  requests: number;
  /** The cost of the requests with a known price, in US dollars. */
  knownUsd: number;
  unpriced: number;
}

export const NO_COST: CostSum = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  knownUsd: 0,
  unpriced: 0,
};

export interface CostRow extends CostSum {
  day: number;
  /** The session of the sum. Null for the sum of all deleted sessions. */
  sessionId: string | null;
  model: string;
}

interface RequestCost {
  model: string;
  cost: CostSum;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the number of UTC days since 1970-01-01. @param at in milliseconds since 1970 */
export function utcDay(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** Returns a day as RFC 3339 `full-date`, e.g. `2026-01-31`. */
export function utcDayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Returns the cost of each model request whose end is in these events of one task. The returned `openModel` is the
 * model of the last started turn.
 * @param openModel the model of the last turn before these events; null if no turn started
 */
export function costsOfEvents(
  events: readonly TaskEvent[],
  openModel: string | null,
): { costs: RequestCost[]; openModel: string | null } {
  const costs: RequestCost[] = [];
  let model = openModel;
  for (const event of events) {
    if (event.type === 'turn.started') ({ model } = event);
    if (event.type === 'turn.finished' && model !== null)
      costs.push({ model, cost: costSumOfRequest(event.usage, event.usd) });
    if (event.type === 'context.summarised' && event.model !== null)
      costs.push({ model: event.model, cost: costSumOfRequest(event.usage, event.usd) });
  }
  return { costs, openModel: model };
}

export function addCosts(a: CostSum, b: CostSum): CostSum {
  return {
    requests: a.requests + b.requests,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    knownUsd: a.knownUsd + b.knownUsd,
    unpriced: a.unpriced + b.unpriced,
  };
}

/** Returns the cost of one request. Zero tokens cost nothing, even if the price is unknown. */
export function costSumOfRequest(usage: TokenUsage, usd: number | undefined): CostSum {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const tokens = {
    inputTokens: toTokenCount(inputTokens),
    outputTokens: toTokenCount(outputTokens),
    cachedInputTokens: toTokenCount(cachedInputTokens),
    cacheWriteTokens: toTokenCount(cacheWriteTokens),
  };
  const known = usd !== undefined && Number.isFinite(usd) && usd >= 0;
  const free = tokens.inputTokens + tokens.outputTokens === 0;
  return { requests: 1, ...tokens, knownUsd: known ? usd : 0, unpriced: known || free ? 0 : 1 };
}

/** The maximum token count of one request. No model reaches it. A sum of millions of requests stays a safe integer. */
const MAX_TOKENS = 1_000_000_000;

/** Returns a valid token count. A provider may report any number, but the sums need whole numbers. */
function toTokenCount(tokens: number): number {
  return Number.isFinite(tokens) ? Math.round(Math.min(Math.max(tokens, 0), MAX_TOKENS)) : 0;
}
