/** Opens the databases that bridges of earlier versions have stored (test/fixtures/stored-state/README.md). */
import { describe, expect, it } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { databasePath } from '../../../../bridge/state/database-path.ts';
import { Outbox } from '../../../../bridge/state/outbox.ts';
import { openSqlite } from '../../../../shared/sqlite/driver.ts';
import { openDatabase } from '../../../support/bridge-database.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const FIXTURES = 'test/fixtures/stored-state';

const versions = (await readdir(FIXTURES))
  .flatMap((name) => /^bridge-v(\d+)\.sql$/.exec(name)?.[1] ?? [])
  .map(Number)
  .toSorted((a, b) => a - b);

describe("the bridge's database of an earlier version", () => {
  it('each version since the first has a fixture', async () => {
    const database = await openDatabase(await temporaryDirectory());
    const newest = Number(database.rows('PRAGMA user_version')[0]?.[0]);
    expect(versions).toEqual(Array.from({ length: newest }, (_, index) => index + 1));
  });

  it.each(versions)(
    'B1 B3 version %i: the next bridge adopts what is open, delivers what no agent has received, and knows each session',
    async (version) => {
      const state = await temporaryDirectory();
      const old = openSqlite(databasePath(state), { busyTimeoutMs: 0 });
      old.exec(await readFile(`${FIXTURES}/bridge-v${version}.sql`, 'utf8'));
      old.close();

      const outbox = new Outbox(await openDatabase(state));
      const adopted = await outbox.takeOverOrphaned();
      const inOneLine = adopted.map(({ title, state: { type } }) => `${title}: ${type}`);
      expect(inOneLine).toEqual([
        'create test.md with hello: accepted',
        'wait 2 seconds: accepted',
        'say undelivered: sending',
      ]);
      expect(outbox.sending()).toMatchObject([{ title: 'say undelivered', text: 'say undelivered' }]);
      const collected = outbox.entries().filter(({ state: { type } }) => type === 'collected');
      expect(collected).toMatchObject([
        { title: 'say collected', text: '', state: { ended: 'completed', taskId: expect.any(String) } },
      ]);
      const waiting = adopted[0]?.state;
      if (waiting?.type !== 'accepted') throw new Error('the waiting delegation is not accepted');
      expect(outbox.findOpenByTask('agent', waiting.taskId)).toEqual(adopted[0]);

      outbox.collect({ agent: 'agent', ...waiting }, 'completed');
      expect(outbox.findByHandle(waiting.sessionId)).toMatchObject([{ state: { type: 'collected' } }]);
    },
  );
});
