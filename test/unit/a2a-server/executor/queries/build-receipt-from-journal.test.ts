import { expect, it } from '@jest/globals';
import { buildReceiptFromJournal } from '../../../../../a2a-server/executor/queries/build-receipt-from-journal.ts';

it('S2 a receipt over more events than the task has is refused, and the error has the last position', async () => {
  const journal = { read: () => Promise.resolve([]) };
  await expect(buildReceiptFromJournal(journal, { taskId: 'task-1', seq: 3 }, 4)).rejects.toMatchObject({
    reason: 'INVALID_CURSOR',
    facts: { last: '3' },
  });
});
