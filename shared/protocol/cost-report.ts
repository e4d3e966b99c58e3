/**
 * The cost of requests to models. `GET /api/costs` returns it by UTC day, by session and by model. `GET
 * /api/tasks/{id}/costs` returns the cost of each request of a task. The schemas use `zod/mini`, because web pages read
 * them.
 */
import * as z from 'zod/mini';

const count = z.number();
const tokens = {
  /** All input tokens, including those that the provider read from or wrote to its cache. */
  inputTokens: count,
  /** The input tokens that the provider read from its cache. */
  cachedInputTokens: count,
  /** The input tokens that the provider wrote to its cache. */
  cacheWriteTokens: count,
  outputTokens: count,
  /** The cost in US dollars. Null if the price of a request is unknown. */
  usd: z.nullable(count),
};

/** The tokens and the cost of a task or a session, as its metadata reports them. */
export const tokenUsageSchema = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: z.optional(count),
  cacheWriteTokens: z.optional(count),
  /** The cost in US dollars. Null if a price is unknown. */
  usd: z.prefault(z.nullable(count), null),
});

/**
 * The tokens and the cost of several requests to models. Each request is for a turn of a task, or for a summary of a
 * conversation.
 */
const sum = { requests: count, ...tokens, knownUsd: count, unpricedRequests: count };
export const costSumSchema = z.object(sum);
export type CostSumView = z.infer<typeof costSumSchema>;

const request = {
  /** The number of the turn in its task. Null if the request is for a summary of the conversation. */
  turn: z.nullable(count),
  ...tokens,
};

/**
 * The cost of one request, in `metadata[TOOL_APPROVAL_EXTENSION].cost` of the event that ends a turn or a summary. Absent if the
 * model reports no tokens.
 */
export const eventCostSchema = z.object(request);
export type EventCost = z.infer<typeof eventCostSchema>;

export const taskCostsSchema = z.object({
  taskId: z.string(),
  /** The requests of the task that used tokens, in order. `at` is the time of the response (RFC 3339). */
  requests: z.array(z.object({ at: z.string(), model: z.string(), ...request })),
});
export type TaskCosts = z.infer<typeof taskCostsSchema>;

/** A UTC day, e.g. `2026-01-31`. */
const day = z.string();

export const costReportSchema = z.object({
  timeZone: z.literal('UTC'),
  from: day,
  /** Today, which is the last day of the report. */
  to: day,
  total: costSumSchema,
  /** One sum for each day, newest first. Days without requests are absent. */
  days: z.array(z.object({ day, ...sum })),
  /**
   * One sum for each session. The sessions with the latest last day are first. Sessions with the same last day are
   * ordered by cost. The entry with `sessionId` null is the sum of all deleted sessions.
   */
  sessions: z.array(z.object({ sessionId: z.nullable(z.string()), title: z.string(), lastDay: day, ...sum })),
  moreSessions: count,
  /** One sum for each model, the most expensive first. */
  models: z.array(z.object({ model: z.string(), ...sum })),
  /**
   * `limitUsd` is today's limit. It includes the amounts that a person has added today. Absent if no daily budget is
   * set.
   */
  dailyBudget: z.optional(z.object({ usd: count, limitUsd: count, spentUsd: count })),
});
export type CostReport = z.infer<typeof costReportSchema>;
