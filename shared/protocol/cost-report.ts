/**
 * The answer of `GET /api/costs`: what the requests to models cost, by UTC day, by session and by model. It uses
 * `zod/mini`, because web pages read it.
 */
import * as z from 'zod/mini';

/** The tokens and the cost of some requests to models. A request is a turn, or a summary of a conversation. */
const sum = {
  requests: z.number(),
  /** All input tokens: plain ones, and both kinds below. */
  inputTokens: z.number(),
  /** The part of the input tokens that the provider read from its cache. */
  cachedInputTokens: z.number(),
  /** The part of the input tokens that the provider wrote to its cache. */
  cacheWriteTokens: z.number(),
  outputTokens: z.number(),
  /** US dollars. Null if the price of a request is unknown. */
  usd: z.nullable(z.number()),
  /** US dollars of the requests with a known price. */
  knownUsd: z.number(),
  /** The number of requests with an unknown price. */
  unpricedRequests: z.number(),
};
export const costSumSchema = z.object(sum);
export type CostSumView = z.infer<typeof costSumSchema>;

/** A UTC day, e.g. `2026-01-31`. */
const day = z.string();

export const costReportSchema = z.object({
  timeZone: z.literal('UTC'),
  /** The first day of the report. */
  from: day,
  /** The last day of the report: today. */
  to: day,
  total: costSumSchema,
  /** Newest first. Days without requests are absent. */
  days: z.array(z.object({ day, ...sum })),
  /** The latest day first, then the most expensive. `sessionId` is null for the sum of all deleted sessions. */
  sessions: z.array(z.object({ sessionId: z.nullable(z.string()), title: z.string(), lastDay: day, ...sum })),
  /** The number of sessions that the list omits. */
  moreSessions: z.number(),
  /** The most expensive first. */
  models: z.array(z.object({ model: z.string(), ...sum })),
  /** `limitUsd`: today's limit, after each time that a person allowed more. Absent if no budget per day is set. */
  dailyBudget: z.optional(z.object({ usd: z.number(), limitUsd: z.number(), spentUsd: z.number() })),
});
export type CostReport = z.infer<typeof costReportSchema>;
