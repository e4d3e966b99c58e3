/** Builds the receipt of a task from its journal. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { readPackageVersion } from '../../../shared/runtime/version.ts';
import type { Receipt } from '../../../shared/receipt/receipt.ts';
import type { Journal, TaskRow } from '../../journal/journal.ts';
import { readEntryPages } from '../../journal/read-pages.ts';
import { ReceiptBuilder } from '../../receipts/build-receipt.ts';

/**
 * @param events the number of events from the beginning that the receipt covers; by default all
 * @throws ProductError INVALID_CURSOR if the task has fewer events
 */
export async function buildReceiptFromJournal(
  journal: Pick<Journal, 'read'>,
  { taskId, seq }: Pick<TaskRow, 'taskId' | 'seq'>,
  events = seq,
): Promise<Receipt> {
  if (events > seq)
    throw new ProductError('INVALID_CURSOR', `The task has ${seq} events, not ${events}.`, {
      facts: { last: String(seq) },
    });
  const builder = new ReceiptBuilder(taskId, readPackageVersion());
  for await (const page of readEntryPages(journal, taskId, events))
    for (const entry of page) builder.add(entry);
  return builder.build();
}
