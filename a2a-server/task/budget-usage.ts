/** Adds one journal entry to the use of the task's budget. Pure. */
import { NOTHING_SPENT, type BudgetUsage } from './budget.ts';
import type { JournalEntry, TaskEvent } from './events.ts';
import type { Snapshot } from './snapshot.ts';

/** @param snapshot the task before this entry. */
export function budgetUsageAfter(
  { status, spent, updatedAt }: Snapshot,
  { event, at }: JournalEntry,
): BudgetUsage {
  if (event.type === 'task.working' && status.state === 'input-required' && status.budget)
    return NOTHING_SPENT;
  const active = status.state === 'working' && !takenUpBy(event) ? Math.max(0, at - updatedAt) : 0;
  const answered = event.type === 'turn.finished' || event.type === 'context.summarised';
  const tokens = answered ? event.usage.inputTokens + event.usage.outputTokens : 0;
  // An abandoned turn does not count.
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

/** The first events of a process that continues a task. No server ran before them, so that time is not working time. */
function takenUpBy({ type }: TaskEvent): boolean {
  return type === 'turn.abandoned' || type === 'tool.interrupted' || type === 'task.working';
}
