/** Runs the test suites of the journal port on the PostgreSQL journal, with a real server. */
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { openPostgresJournal } from '../../../../../a2a-server/journal/postgres/postgres-journal.ts';
import { describeJournal } from '../../../../support/journal-contract.ts';
import { itBehavesLikeTheModel, TASKS } from '../../../../support/journal-properties.ts';
import {
  type PostgresServer,
  START_LIMIT_MS,
  startPostgres,
  whyNoPostgres,
} from '../../../../support/postgres-server.ts';

if (whyNoPostgres !== undefined) it.skip(`not run: ${whyNoPostgres}`, () => undefined);
else {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  }, START_LIMIT_MS);

  afterAll(() => server.dispose());

  async function createStorage() {
    const url = await server.createDatabase();
    return {
      open: (clock: () => number) => openPostgresJournal({ url, clock }),
      dispose: () => server.dropDatabase(url),
    };
  }

  /** Watches every task, so that the newest entries come from the cache. */
  async function createWatchedStorage() {
    const storage = await createStorage();
    return {
      ...storage,
      async open(clock: () => number) {
        const journal = await storage.open(clock);
        for (const taskId of TASKS) journal.watch(taskId, () => undefined);
        return journal;
      },
    };
  }

  describeJournal('the PostgreSQL journal', createStorage);
  itBehavesLikeTheModel(createStorage, 40);

  describe('the PostgreSQL journal while every task is watched', () => {
    itBehavesLikeTheModel(createWatchedStorage, 20);
  });
}
