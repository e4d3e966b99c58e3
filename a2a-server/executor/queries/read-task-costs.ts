/** Reads the cost of each model request of a task from its journal. */
import type { TaskCosts } from '../../../shared/protocol/cost-report.ts';
import type { Journal } from '../../journal/journal.ts';
import { readEntryPages } from '../../journal/read-pages.ts';
import type { JournalEntry } from '../../task/events.ts';
import { concernsCost, listRequestCosts } from '../../task/costs/list-request-costs.ts';

export async function readTaskCosts(journal: Pick<Journal, 'read'>, taskId: string): Promise<TaskCosts> {
  const found: JournalEntry[] = [];
  for await (const page of readEntryPages(journal, taskId))
    found.push(...page.filter(({ event }) => concernsCost(event)));
  return { taskId, requests: listRequestCosts(found) };
}
