/** Runs the test suites of the journal port on the PostgreSQL journal, with a real server. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { openPostgresJournal } from '../../../../../a2a-server/journal/postgres/postgres-journal.ts';
import {
  openPostgresConnection,
  parseDatabaseUrl,
} from '../../../../../a2a-server/journal/postgres/driver.ts';
import { openExistingPostgresRecords } from '../../../../../a2a-server/journal/postgres/postgres-records.ts';
import { createToken, printTokens } from '../../../../../a2a-server/startup/commands/token-commands.ts';
import { describeJournal } from '../../../../support/journal-contract/journal-contract.ts';
import { itBehavesLikeTheModel, withWatchedTasks } from '../../../../support/journal-properties.ts';
import { recordStoreContract } from '../../../../support/record-store-contract.ts';
import {
  type PostgresServer,
  START_LIMIT_MS,
  startPostgres,
  whyNoPostgres,
} from '../../../../support/postgres-server.ts';

if (whyNoPostgres !== undefined) it.skip(`not run: ${whyNoPostgres}`, () => undefined);
else {
  let server: PostgresServer;
  /** The name of a database with the tables of the journal. Its copy is faster than new tables. */
  let template: string;

  beforeAll(async () => {
    server = await startPostgres();
    const url = await server.createDatabase();
    await (await openPostgresJournal({ url, clock: Date.now })).close();
    template = new URL(url).pathname.slice(1);
  }, START_LIMIT_MS);

  afterAll(() => server.dispose());

  async function createStorage() {
    const url = await server.createDatabase(`TEMPLATE ${template}`);
    return {
      open: (clock: () => number) => openPostgresJournal({ url, clock }),
      async execute(sql: string) {
        const connection = await openPostgresConnection(parseDatabaseUrl(url));
        await connection.query({ text: sql });
        connection.close();
      },
      dispose: () => server.dropDatabase(url),
    };
  }

  describeJournal('the PostgreSQL journal', createStorage);

  describe('the records of a PostgreSQL database', () => {
    let url: string;
    const opened: { close: () => unknown }[] = [];
    beforeEach(async () => {
      url = await server.createDatabase();
    });
    afterEach(async () => {
      for (const each of opened.splice(0)) await each.close();
      await server.dropDatabase(url);
    });

    recordStoreContract('through a journal', async () => {
      const journal = await openPostgresJournal({ url, clock: Date.now });
      opened.push(journal);
      return journal.records;
    });

    it('a command line shares them with the running servers', async () => {
      const journal = await openPostgresJournal({ url, clock: Date.now });
      const records = await openExistingPostgresRecords(url);
      opened.push(journal, records);
      await records.create('tokens', 'a', 'value');
      expect(await journal.records.read('tokens', 'a')).toBe('value');
    });

    it('a token of a command on a machine with a wrong clock lasts by the time of the database', async () => {
      opened.push(await openPostgresJournal({ url, clock: Date.now }));
      const real = Date.now();
      const clock = jest.spyOn(Date, 'now').mockReturnValue(real - 3_600_000);
      const place = { stateDir: '/unused', database: url };
      const lines: string[] = [];
      const output = {
        say: (line: string) => lines.push(line),
        sayJson: (value: object) => lines.push(JSON.stringify(value)),
        note: () => undefined,
      };
      try {
        await createToken(place, { name: 'ann', role: ['approve'], expires: '30m' }, output);
      } finally {
        clock.mockRestore();
      }
      await printTokens(place, true, output);
      expect(lines[1]).toContain('"state":"active"');
    });

    it('a command line does not create the tables of a database', async () => {
      await expect(openExistingPostgresRecords(url)).rejects.toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringContaining('no server has used it'),
      });
    });
  });

  itBehavesLikeTheModel(createStorage, 40);

  describe('the PostgreSQL journal while every task is watched', () => {
    itBehavesLikeTheModel(withWatchedTasks(createStorage), 20);
  });
}
