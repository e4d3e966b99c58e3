/**
 * Checks the budget of a task. When the budget is spent, the task stops between two turns and asks a person whether to
 * continue. Any reply grants the same budget again. No work is lost. Pure.
 */
import type { Snapshot } from './snapshot.ts';
import type { JournalEntry, TaskEvent } from './events.ts';

/** The limits of a task. Null means no limit. */
export interface Budget {
  turns: number | null;
  toolCalls: number | null;
  tokens: number | null;
  /** The cost in US dollars, by the prices in the settings. */
  usd: number | null;
  /** The working time. The time in which the task waits for a person does not count. */
  activeMs: number | null;
}

export const NO_BUDGET: Budget = { turns: null, toolCalls: null, tokens: null, usd: null, activeMs: null };

/** The amounts used since the task began, or since a person last granted the budget again. */
export type BudgetUsage = { readonly [K in keyof Budget]: number };

export const NO_BUDGET_USAGE: BudgetUsage = { turns: 0, toolCalls: 0, tokens: 0, usd: 0, activeMs: 0 };

/** Returns the working time until `now`, in milliseconds. */
export function activeTime({ status, spent, updatedAt }: Snapshot, now: number): number {
  return spent.activeMs + (status.state === 'working' ? Math.max(0, now - updatedAt) : 0);
}

export function budgetQuestion(snapshot: Snapshot, budget: Budget, now: number): string | undefined {
  const { turns, toolCalls, tokens, usd } = snapshot.spent;
  const activeMs = activeTime(snapshot, now);
  const spent = [
    isReached(turns, budget.turns) && `turns of the model: ${turns}`,
    isReached(toolCalls, budget.toolCalls) && `tool calls: ${toolCalls}`,
    isReached(tokens, budget.tokens) && `tokens: ${tokens}`,
    isReached(usd, budget.usd) && `US dollars: ${usd.toFixed(2)}`,
    isReached(activeMs, budget.activeMs) && `seconds at work: ${Math.round(activeMs / 1000)}`,
  ].filter((it) => it !== false);
  if (spent.length === 0) return undefined;
  return `The task has used its budget (${spent.join('; ')}). Its work so far is kept. To grant the same budget again, reply; your reply can contain instructions. Otherwise cancel the task.`;
}

function isReached(spent: number, limit: number | null): boolean {
  return limit !== null && spent >= limit;
}

/** Returns the used amounts after this entry. @param snapshot the task before this entry */
export function budgetUsageAfter(
  { status, spent, updatedAt }: Snapshot,
  { event, at }: JournalEntry,
): BudgetUsage {
  if (event.type === 'task.working' && status.state === 'input-required' && status.budget)
    return NO_BUDGET_USAGE;
  const active = status.state === 'working' && !mayFollowIdleTime(event) ? Math.max(0, at - updatedAt) : 0;
  const answered = event.type === 'turn.finished' || event.type === 'context.summarised';
  const tokens = answered ? event.usage.inputTokens + event.usage.outputTokens : 0;
  const turns = event.type === 'turn.started' ? 1 : event.type === 'turn.abandoned' ? -1 : 0;
  const toolCalls = event.type === 'tool.started' ? 1 : 0;
  const usd = answered ? (event.usd ?? 0) : 0;
  if ([active, tokens, turns, toolCalls, usd].every((it) => it === 0)) return spent;
  return {
    turns: Math.max(0, spent.turns + turns),
    toolCalls: spent.toolCalls + toolCalls,
    tokens: spent.tokens + tokens,
    usd: spent.usd + usd,
    activeMs: spent.activeMs + active,
  };
}

/**
 * True for an event that may follow a time without work: no server ran, or the task waited for an orphaned process or
 * for a server that can open its workspace. This time does not count as working time.
 */
function mayFollowIdleTime({ type }: TaskEvent): boolean {
  return (
    type === 'turn.abandoned' ||
    type === 'tool.interrupted' ||
    type === 'task.working' ||
    type === 'process.orphaned' ||
    type === 'workspace.unavailable'
  );
}
