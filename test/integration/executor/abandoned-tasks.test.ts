/** Tests how a server of a shared database takes over the tasks of a server that has died. */
import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { Claim, type OwnershipCallbacks } from '../../../a2a-server/journal/ownership.ts';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { beginning } from '../../support/journal-samples.ts';
import { journalWith } from '../../support/journal-with.ts';
import { ScriptedModel } from '../../support/scripted-model.ts';
import { startTaskService } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('a server that claims abandoned tasks', () => {
  it('R112 R117 gives them back if it cannot read them, and runs them after the next look', async () => {
    const stateDir = await temporaryDirectory();
    const journal = await openSqliteJournal({ path: join(stateDir, 'journal.db'), clock: () => 1 });
    const claimed = new Set<string>();
    let server: OwnershipCallbacks | undefined;
    let unreadable = true;
    let refused = 0;
    const shared = journalWith(journal, {
      ownership: {
        ...journal.ownership,
        shared: true,
        async start(callbacks) {
          server = callbacks;
        },
        async claimAbandoned() {
          const rows = (await journal.unsettled()).filter(({ taskId }) => !claimed.has(taskId));
          for (const { taskId } of rows) claimed.add(taskId);
          const claims = rows.map(({ taskId }) => ({ taskId, claim: new Claim({ takenOver: true }) }));
          return { claimed: claims, unopened: [] };
        },
        release: (taskId) => void claimed.delete(taskId),
      },
      row: async (taskId) => {
        if (!unreadable) return journal.row(taskId);
        refused += 1;
        throw new ProductError('STORAGE', 'the database has no free connection');
      },
    });
    const model = new ScriptedModel([]);
    const { tasks } = await startTaskService({
      stateDir,
      workspace: stateDir,
      models: model,
      journal: shared,
    });
    await tasks.recover();
    await journal.append(beginning('a'));
    await journal.append(beginning('b'));
    server?.look();
    while (refused === 0) await nextTurn();
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(claimed).toEqual(new Set());
    unreadable = false;
    server?.look();
    for (const taskId of ['a', 'b']) {
      const { signal } = new AbortController();
      for await (const _ of tasks.follow(taskId, 0, { until: 'ended', signal }));
    }
    expect(model.requests).toHaveLength(2);
  });
});
