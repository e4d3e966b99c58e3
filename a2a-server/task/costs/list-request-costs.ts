/** Lists the cost of each model request of a task, for clients. Pure. */
import type { EventCost, TaskCosts } from '../../../shared/protocol/cost-report.ts';
import { costSumOfRequest, costsOfEvents } from './cost-sum.ts';
import { costView } from './cost-report.ts';
import type { JournalEntry, TaskEvent } from '../events.ts';

/**
 * Returns the cost of the request that ends with this event. Returns undefined for any other event, and for a request
 * without tokens.
 */
export function eventCost(event: TaskEvent): EventCost | undefined {
  if (event.type !== 'turn.finished' && event.type !== 'context.summarised') return undefined;
  const { usd, inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens } = costView(
    costSumOfRequest(event.usage, event.usd),
  );
  if (inputTokens + outputTokens === 0) return undefined;
  const turn = event.type === 'turn.finished' ? event.turn : null;
  return { turn, inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, usd };
}

export function concernsCost({ type }: TaskEvent): boolean {
  return type === 'turn.started' || type === 'turn.finished' || type === 'context.summarised';
}

/**
 * Returns the cost of each request with tokens, in order.
 * @param entries all entries of a task for which `concernsCost` is true
 */
export function listRequestCosts(entries: readonly JournalEntry[]): TaskCosts['requests'] {
  let openModel: string | null = null;
  return entries.flatMap(({ at, event }) => {
    const found = costsOfEvents([event], openModel);
    ({ openModel } = found);
    const [request] = found.costs;
    const cost = eventCost(event);
    if (request === undefined || cost === undefined) return [];
    return { at: new Date(at).toISOString(), model: request.model, ...cost };
  });
}
