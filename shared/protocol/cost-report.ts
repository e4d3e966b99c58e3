/** The answer of `GET /api/costs`: what the requests to models cost, by UTC day, by session and by model. */
import { z } from 'zod';

/** The tokens and the cost of some requests to models. A request is a turn, or a summary of a conversation. */
export const costSumSchema = z.object({
  requests: z.number(),
  /** All input tokens: plain ones, and both kinds below. */
  inputTokens: z.number(),
  /** The part of the input tokens that the provider read from its cache. */
  cachedInputTokens: z.number(),
  /** The part of the input tokens that the provider wrote to its cache. */
  cacheWriteTokens: z.number(),
  outputTokens: z.number(),
  /** US dollars. Null if the price of a request is unknown. */
  usd: z.number().nullable(),
  /** US dollars of the requests with a known price. */
  knownUsd: z.number(),
  /** The number of requests with an unknown price. */
  unpricedRequests: z.number(),
});
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
  days: z.array(costSumSchema.extend({ day })),
  /** The latest day first, then the most expensive. `sessionId` is null for the sum of all deleted sessions. */
  sessions: z.array(
    costSumSchema.extend({ sessionId: z.string().nullable(), title: z.string(), lastDay: day }),
  ),
  /** The number of sessions that the list omits. */
  moreSessions: z.number(),
  /** The most expensive first. */
  models: z.array(costSumSchema.extend({ model: z.string() })),
  /** `limitUsd`: today's limit, after each time that a person allowed more. Absent if no budget per day is set. */
  dailyBudget: z.object({ usd: z.number(), limitUsd: z.number(), spentUsd: z.number() }).optional(),
});
export type CostReport = z.infer<typeof costReportSchema>;
