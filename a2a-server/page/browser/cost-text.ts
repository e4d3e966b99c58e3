import type { CostReport } from '../../../shared/client/index.ts';
import type { GroupedTask } from '../../../shared/protocol/task-groups.ts';
import { dollarsText, hasTokens, tokensAndPriceText } from '../../../shared/text/cost-text.ts';

/** Returns the cost of the day and the daily budget. Returns '' if there is no cost and no budget. */
export function todayCostText({ total, dailyBudget }: CostReport): string {
  if (!hasTokens(total) && dailyBudget === undefined) return '';
  const { usd, knownUsd } = total;
  const unknown = usd === null ? ' and requests with an unknown price' : '';
  const of = dailyBudget === undefined ? '' : ` of ${dollarsText(dailyBudget.limitUsd)}`;
  return `Today (UTC): ${dollarsText(knownUsd)}${unknown}${of}`;
}

/** Returns the cost of a task or a session, for the list. Returns '' if the agent counted no tokens. */
export function rowCostText(cost: GroupedTask['cost']['task']): string {
  if (!hasTokens(cost)) return '';
  return cost.usd === null ? 'price unknown' : dollarsText(cost.usd);
}

/**
 * Returns the cost of the task. If the session has other tasks, also returns the cost of the session. Returns '' if the
 * agent counted no tokens.
 */
export function taskCostText({ cost }: Pick<GroupedTask, 'cost'>): string {
  if (!hasTokens(cost.session)) return '';
  const { task, session } = cost;
  const same = task.inputTokens === session.inputTokens && task.outputTokens === session.outputTokens;
  return same
    ? `Cost: ${tokensAndPriceText(task)}.`
    : `Cost: ${tokensAndPriceText(task)}. All tasks of the session: ${tokensAndPriceText(session)}.`;
}
