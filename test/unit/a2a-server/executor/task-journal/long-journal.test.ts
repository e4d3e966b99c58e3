import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { TaskJournal } from '../../../../../a2a-server/executor/task-journal/task-journal.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { beginning, delta, message, working } from '../../../../support/journal-samples.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

it('X3 while the server reads a long journal, the event loop runs other work in between', async () => {
  const path = join(await temporaryDirectory(), 'journal.db');
  const journal = await openSqliteJournal({ path, clock: () => 1 });
  try {
    const deltas = Array.from({ length: 5_000 }, () => delta('a'));
    const turn = { type: 'turn.started', turn: 1, model: 'offline' } as const;
    const events = [message('do it'), working, turn, ...deltas];
    await journal.append(beginning('task-1', { events }));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    const snapshot = await new TaskJournal(journal).load('task-1');
    clearImmediate(immediate);
    expect(snapshot?.openTurn?.text).toHaveLength(5_000);
    expect(turns).toBeGreaterThanOrEqual(5);
  } finally {
    await journal.close();
  }
});
