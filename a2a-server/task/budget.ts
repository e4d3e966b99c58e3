/**
 * What a task may spend before a person is asked whether it goes on. Nothing is lost by it: the task parks between two
 * turns, and any reply lets it go on for as much again. Pure.
 */
import type { Snapshot } from './snapshot.ts';

/** Null: as much as it takes. */
export interface Budget {
  turns: number | null;
  toolCalls: number | null;
  /** Input and output tokens together, as the models count them. */
  tokens: number | null;
  /** US dollars, by the prices in the settings. */
  usd: number | null;
  /** Time at work, in milliseconds: what it waits for a person does not count. */
  activeMs: number | null;
}

export const NO_BUDGET: Budget = { turns: null, toolCalls: null, tokens: null, usd: null, activeMs: null };

/** What has been spent since the task began, or since a person let it go on. */
export type Spent = { readonly [K in keyof Budget]: number };

export const NOTHING_SPENT: Spent = { turns: 0, toolCalls: 0, tokens: 0, usd: 0, activeMs: 0 };

/** How long a task has been at work by `now`, of what counts. */
export function activeTime({ status, spent, updatedAt }: Snapshot, now: number): number {
  return spent.activeMs + (status.state === 'working' ? Math.max(0, now - updatedAt) : 0);
}

/** The question to a person when the budget is spent; undefined while it is not. */
export function budgetQuestion(snapshot: Snapshot, budget: Budget, now: number): string | undefined {
  const { turns, toolCalls, tokens, usd } = snapshot.spent;
  const activeMs = activeTime(snapshot, now);
  const spent = [
    reached(turns, budget.turns) && `turns of the model: ${turns}`,
    reached(toolCalls, budget.toolCalls) && `tool calls: ${toolCalls}`,
    reached(tokens, budget.tokens) && `tokens: ${tokens}`,
    reached(usd, budget.usd) && `US dollars: ${usd.toFixed(2)}`,
    reached(activeMs, budget.activeMs) && `seconds at work: ${Math.round(activeMs / 1000)}`,
  ].filter((it) => it !== false);
  if (spent.length === 0) return undefined;
  return `The task has used its budget (${spent.join('; ')}). What it did so far is kept. Reply to let it go on for as much again, with what it should do if you like; or cancel it.`;
}

function reached(spent: number, limit: number | null): boolean {
  return limit !== null && spent >= limit;
}
