/** Tests the PostgreSQL journal with lost connections, a restarted database, and a second server. */
import { randomBytes } from 'node:crypto';
import { getMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import type { Journal } from '../../../../../a2a-server/journal/journal.ts';
import {
  openPostgresJournal,
  type PostgresJournalOptions,
} from '../../../../../a2a-server/journal/postgres/postgres-journal.ts';
import { beginning, commandKey, continuing, delta, working } from '../../../../support/journal-samples.ts';
import { ASK_AGAIN_MS, beginTransaction, untilWaitingForLocks } from '../../../../support/postgres-locks.ts';
import { startProxy, type PostgresProxy } from '../../../../support/postgres-proxy.ts';
import { onPostgres } from '../../../../support/on-postgres.ts';

async function seqsOf(journal: Journal, taskId: string): Promise<number[]> {
  return (await journal.read(taskId, 0, 10_000)).map(({ seq }) => seq);
}

/** Repeats the work until it succeeds. */
function untilSuccess<Result>(work: () => Promise<Result>): Promise<Result> {
  return work().catch(() => untilSuccess(work));
}

const QUICK = { retries: 2, minTimeout: 20, maxTimeout: 20, factor: 1, randomize: false };

onPostgres(['max_connections=20', 'superuser_reserved_connections=0'], (server) => {
  let url: string;
  let proxy: PostgresProxy;
  const journals: Journal[] = [];

  const open = async (options: Partial<PostgresJournalOptions> = {}): Promise<Journal> => {
    const journal = await openPostgresJournal({ url, clock: () => 1, ...options });
    journals.push(journal);
    return journal;
  };

  beforeEach(async () => {
    url = await server().createDatabase();
    proxy = await startProxy(url);
  });

  afterEach(async () => {
    for (const journal of journals.splice(0)) await journal.close();
    await proxy.close();
    await server().dropDatabase(url);
  });

  const failureOf = async (changed: string): Promise<unknown> =>
    open({ url: changed }).then(
      () => undefined,
      (error: unknown) => error,
    );

  /** Runs statements beside the journal. */
  async function administer(...statements: string[]): Promise<void> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }

  async function firstNumber(statement: string): Promise<number> {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ batch: string }>(statement);
    await client.end();
    return Number(rows[0]?.batch);
  }

  /** Returns the number of commits. */
  const lastBatch = (): Promise<number> => firstNumber('SELECT batch FROM commits');

  /** Ends the connection that writes. */
  const endWriter = (): Promise<void> =>
    administer(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT append_batch%'",
    );

  /** Ends the connection that writes. The next one then waits for a lock, until the returned function is called. */
  async function blockNextWriter(): Promise<() => Promise<void>> {
    const unlock = await beginTransaction(url, 'SELECT 1 FROM commits FOR UPDATE');
    await endWriter();
    await untilWaitingForLocks(url, 1);
    return unlock;
  }

  describe('a lost connection of the journal', () => {
    it('E3 an append whose answer is lost is written once, and the writer gets its entries', async () => {
      const journal = await open({ url: proxy.url });
      await journal.append(beginning('a', { events: [working] }));
      for (let seq = 2; seq < 6; seq += 1) {
        proxy.loseAnswersTo('append_batch');
        const command = commandKey(`m${seq}`);
        const result = await journal.append({ ...continuing('a', seq, [delta('x')], 'working'), command });
        expect(result).toMatchObject({ type: 'appended', entries: [{ seq: seq + 1 }] });
        expect(await journal.command('alice', `m${seq}`)).toMatchObject({ taskId: 'a', seq: seq + 1 });
      }
      expect(proxy.lost()).toBe(4);
      expect(await seqsOf(journal, 'a')).toEqual([1, 2, 3, 4, 5, 6]);
    });

    it('E3 a task whose creation gets no answer exists once, and takes the next append', async () => {
      const journal = await open({ url: proxy.url });
      proxy.loseAnswersTo('append_batch');
      expect(await journal.append(beginning('a'))).toMatchObject({ type: 'appended' });
      expect(await journal.append(continuing('a', 2, [working]))).toMatchObject({ type: 'appended' });
      expect(await seqsOf(journal, 'a')).toEqual([1, 2, 3]);
    });

    it('E3 an append that PostgreSQL commits after the loss of its connection is written once, and the server goes on', async () => {
      const onRemoved = jest.fn();
      const journal = await open({ url: proxy.url, onRemoved });
      await journal.append(beginning('a', { events: [working] }));
      const commit = await beginTransaction(url, "SELECT 1 FROM tasks WHERE task_id = 'a' FOR UPDATE");
      const append = journal.append(continuing('a', 2, [delta('x')], 'working'));
      await untilWaitingForLocks(url, 1);
      proxy.cut();
      // The second attempt waits for the first one, which PostgreSQL still executes.
      await untilWaitingForLocks(url, 2);
      await commit();
      expect(await append).toMatchObject({ type: 'appended', entries: [{ seq: 3 }] });
      expect(await journal.append(continuing('a', 3, [delta('y')], 'working'))).toMatchObject({
        type: 'appended',
      });
      expect(await seqsOf(journal, 'a')).toEqual([1, 2, 3, 4]);
      expect(onRemoved).not.toHaveBeenCalled();
    });

    it('J1 appends continue without gap or repeat while PostgreSQL ends the connections again and again', async () => {
      const journal = await open();
      await journal.append(beginning('a', { events: [working] }));
      for (let seq = 2; seq < 42; seq += 1) {
        const append = journal.append(continuing('a', seq, [delta(String(seq))], 'working'));
        if (seq % 8 === 0)
          await administer(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
          );
        expect(await append).toMatchObject({ type: 'appended' });
      }
      expect(await seqsOf(journal, 'a')).toEqual(Array.from({ length: 42 }, (_, index) => index + 1));
    });

    it('R117 appends and reads wait while the database crashes and restarts, and no entry is lost', async () => {
      const journal = await open();
      const listen = jest.spyOn(AbortSignal.prototype, 'addEventListener');
      await journal.append(beginning('a', { events: [working] }));
      const before = await journal.read('a', 0, 100);
      await server().crash();
      const append = journal.append(continuing('a', 2, [delta('during')], 'working'));
      const rows = Promise.all(Array.from({ length: 11 }, (_, index) => journal.row(`task-${index}`)));
      const read = journal.read('a', 0, 2);
      await server().start();
      expect(await append).toMatchObject({ type: 'appended' });
      expect(await read).toEqual(before);
      await rows;
      // Node warns about more than ten listeners of a signal, unless the signal allows any number. How many reads
      // listen depends on the moment at which the database is back.
      const unlimited = listen.mock.contexts.filter(
        (signal) => signal instanceof AbortSignal && getMaxListeners(signal) === Infinity,
      );
      listen.mockRestore();
      expect(unlimited).not.toEqual([]);
      expect(await seqsOf(journal, 'a')).toEqual([1, 2, 3]);
    });

    it('R117 the database restarts twice while many tasks append: each accepted entry is stored once', async () => {
      const journal = await open();
      const load = { over: false };
      const tasks = Array.from({ length: 8 }, async (_, index) => {
        const taskId = `task-${index}`;
        await journal.append(beginning(taskId, { events: [working] }));
        let seq = 2;
        while (!load.over) {
          const result = await journal.append(continuing(taskId, seq, [delta(String(seq))], 'working'));
          expect(result).toMatchObject({ type: 'appended' });
          seq += 1;
        }
        return { taskId, seq };
      });
      await server().crash();
      await server().start();
      await journal.append(beginning('between'));
      await server().stop();
      await server().start();
      await journal.append(beginning('after'));
      load.over = true;
      for (const { taskId, seq } of await Promise.all(tasks))
        expect(await seqsOf(journal, taskId)).toEqual(Array.from({ length: seq }, (_, index) => index + 1));
    });

    it('R117 while the database is down for longer, the journal is not reachable and refuses with STORAGE; then it continues', async () => {
      const journal = await open({ backOff: QUICK });
      await journal.append(beginning('a', { events: [working] }));
      expect(journal.reachable()).toBe(true);
      await server().stop();
      const storage = { reason: 'STORAGE' };
      await expect(journal.append(continuing('a', 2, [delta('x')], 'working'))).rejects.toMatchObject(
        storage,
      );
      await expect(journal.row('a')).rejects.toMatchObject(storage);
      expect(journal.reachable()).toBe(false);
      await server().start();
      expect(await journal.append(continuing('a', 2, [delta('x')], 'working'))).toMatchObject({
        type: 'appended',
      });
      expect(journal.reachable()).toBe(true);
      expect(await seqsOf(journal, 'a')).toEqual([1, 2, 3]);
    });

    it('R117 a read whose connection breaks during its statement gets its answer on another connection', async () => {
      const journal = await open({ url: proxy.url });
      await journal.append(beginning('a', { events: [working] }));
      proxy.loseAnswersTo('find_row');
      expect(await journal.row('a')).toMatchObject({ taskId: 'a', seq: 2 });
      expect(proxy.lost()).toBe(1);
    });

    it('R117 the journal connects again by itself after the database has refused connections for another reason', async () => {
      const journal = await open({ backOff: QUICK });
      await journal.append(beginning('a', { events: [working] }));
      await server().allowConnections(url, false);
      // This append waits until the attempt to connect has failed.
      await expect(journal.append(continuing('a', 2, [delta('x')], 'working'))).rejects.toMatchObject({
        reason: 'STORAGE',
      });
      await server().allowConnections(url, true);
      while (!journal.reachable()) await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      expect(await seqsOf(journal, 'a')).toEqual([1, 2]);
    });

    it('R117 E3 while the database hangs, requests end with STORAGE in time, and none of their appends is sent later', async () => {
      // On a busy machine, a request may reach the limit although the database works.
      const journal = await untilSuccess(() => open({ url: proxy.url, limitMs: 100 }));
      const other = await open();
      await untilSuccess(() => journal.append(beginning('a', { events: [working] })));
      proxy.freeze();
      const requests = await Promise.allSettled([
        journal.row('a'),
        journal.read('a', 0, 9),
        journal.append(beginning('b')),
        journal.append(continuing('a', 2, [delta('late')], 'working')),
      ]);
      const late = { status: 'rejected', reason: { reason: 'STORAGE', facts: { code: 'TIMEOUT' } } };
      expect(requests).toMatchObject(requests.map(() => late));
      proxy.cut();
      await untilSuccess(() => journal.append(continuing('a', 2, [delta('next')], 'working')));
      expect((await other.read('a', 2, 9)).map(({ event }) => event)).toEqual([delta('next')]);
      expect(await other.row('b')).toBeUndefined();
    });

    it.each(['is open', 'opens again'])(
      'R117 after a host has vanished while the connection that writes %s, requests succeed as soon as the lease has ended',
      async (state) => {
        const journal = await open({ url: proxy.url });
        await journal.ownership.start({
          onSearch: () => undefined,
          ended: () => undefined,
          canOpen: () => Promise.resolve(true),
        });
        await journal.append(beginning('a', { events: [working] }));
        await journal.row('a');
        const unlock = state === 'is open' ? undefined : await blockNextWriter();
        proxy.strand();
        await unlock?.();
        const row = journal.row('a');
        expect(await journal.append(continuing('a', 2, [delta('x')], 'working'))).toMatchObject({
          type: 'appended',
        });
        expect(await row).toMatchObject({ taskId: 'a' });
        expect(await seqsOf(journal, 'a')).toEqual([1, 2, 3]);
      },
      30_000,
    );

    it('a journal that cannot read the time of the database does not open, and closes its connections', async () => {
      proxy.loseAnswersTo('SELECT (extract(epoch');
      await expect(open({ url: proxy.url })).rejects.toMatchObject({ reason: 'STORAGE' });
      const connections = 'SELECT count(*) AS batch FROM pg_stat_activity WHERE datname = current_database()';
      while ((await firstNumber(connections)) > 1)
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    });

    it('the journal closes while the network is cut', async () => {
      const journal = await open({ url: proxy.url });
      await journal.append(beginning('a'));
      await journal.row('a');
      proxy.freeze();
      await journal.close();
    });

    it('the journal closes while the connection that writes waits for a lock before it opens', async () => {
      const journal = await open();
      await journal.append(beginning('a'));
      const unlock = await blockNextWriter();
      await journal.close();
      await unlock();
    }, 20_000);

    it('the journal closes while the connection that writes logs in at a host that vanishes', async () => {
      const journal = await open({ url: proxy.url });
      await journal.append(beginning('a'));
      const stranded = proxy.strandAt('pg_backend_pid');
      await endWriter();
      await stranded;
      await journal.close();
    }, 20_000);

    it('R117 a reader waits for a free connection if other programs use all connections of the database', async () => {
      const journal = await open();
      await journal.append(beginning('a', { events: [working] }));
      const others = Array.from({ length: 19 }, () => new Client({ connectionString: url }));
      const connected = await Promise.allSettled(others.map((client) => client.connect()));
      expect(connected.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(15);
      const row = journal.row('a');
      await Promise.allSettled(others.map((client) => client.end()));
      expect(await row).toMatchObject({ taskId: 'a' });
    });
  });

  describe('two servers on one database', () => {
    it('J1 both write, and each append gets a conflict if the other server was faster', async () => {
      const [first, second] = [await open(), await open()];
      await first.append(beginning('a', { events: [working] }));
      expect(await second.append(continuing('a', 2, [delta('second')], 'working'))).toMatchObject({
        type: 'appended',
      });
      const late = await first.append(continuing('a', 2, [delta('first')], 'working'));
      expect(late).toEqual({ type: 'conflict' });
      expect(await first.append(continuing('a', 3, [delta('first')], 'working'))).toMatchObject({
        type: 'appended',
      });
      for (const journal of [first, second]) expect(await seqsOf(journal, 'a')).toEqual([1, 2, 3, 4]);
    });

    it('E1 an append waits for a commit of the other, whatever isolation is the default of the database', async () => {
      await administer(
        'ALTER DATABASE ' +
          new URL(url).pathname.slice(1) +
          " SET default_transaction_isolation = 'serializable'",
      );
      const journal = await open();
      await journal.append(beginning('a', { events: [working] }));
      const commit = await beginTransaction(url, "UPDATE tasks SET epoch = epoch + 1 WHERE task_id = 'a'");
      const append = journal.append(continuing('a', 2, [delta('x')], 'working'));
      await untilWaitingForLocks(url, 1);
      await commit();
      expect(await append).toMatchObject({ type: 'appended' });
    });

    it('B1 a message that both get at once starts one task', async () => {
      const [first, second] = [await open(), await open()];
      const command = commandKey('m1');
      const results = await Promise.all([
        first.append({ ...beginning('a'), command }),
        second.append({ ...beginning('b', { sessionId: 'other' }), command }),
      ]);
      expect(results.map(({ type }) => type).toSorted()).toEqual(['appended', 'repeated']);
    });

    it('a server that the database has forgotten writes nothing and learns of it', async () => {
      const removed: Error[] = [];
      const first = await open({ backOff: QUICK, onRemoved: (error) => void removed.push(error) });
      await first.append(beginning('a', { events: [working] }));
      await administer('DELETE FROM nodes');
      const late = first.append(continuing('a', 2, [delta('first')], 'working'));
      await expect(late).rejects.toMatchObject({ reason: 'STORAGE' });
      expect(removed).toHaveLength(1);
      expect(await seqsOf(await open(), 'a')).toEqual([1, 2]);
    });

    it('J1 a server whose last commit the database has lost in a failover writes nothing and learns of it', async () => {
      const removed: Error[] = [];
      const journal = await open({ url: proxy.url, onRemoved: (error) => void removed.push(error) });
      await journal.append(beginning('a', { events: [working] }));
      await journal.append(continuing('a', 2, [delta('lost')], 'working'));
      // An asynchronous standby becomes the primary before it has the last commit.
      await administer(
        'DELETE FROM events WHERE seq = 3',
        'UPDATE tasks SET seq = 2',
        'UPDATE commits SET batch = batch - 1',
      );
      proxy.cut();
      const late = journal.append(continuing('a', 3, [delta('next')], 'working'));
      await expect(late).rejects.toMatchObject({ reason: 'STORAGE' });
      expect(removed).toHaveLength(1);
    });

    it('E3 a server of version 8 writes each commit once after an upgrade, and finds its number where it was', async () => {
      await open();
      await administer("INSERT INTO nodes (id, batch, lease_until) VALUES ('old', 7, clock_timestamp())");
      const append = (batch: number): Promise<void> =>
        administer(`SELECT append_batch('old', ${batch}, 1, '{}', '{}', '{}', '{}', '{}')`);
      await append(8);
      await expect(append(8)).rejects.toThrow('the database does not know this server');
      await append(9);
      expect(await firstNumber("SELECT batch FROM nodes WHERE id = 'old'")).toBe(9);
    });

    it('an upgrade fails soon if a backup locks the tables, because all servers would wait for its end', async () => {
      await (await open()).close();
      await administer('DROP TABLE commits', 'UPDATE a2a_journal SET version = 8');
      // pg_dump holds this lock from its beginning to its end.
      const endBackup = await beginTransaction(url, 'LOCK TABLE nodes IN ACCESS SHARE MODE');
      await expect(open()).rejects.toMatchObject({
        reason: 'STORAGE',
        message: expect.stringContaining('pg_dump'),
      });
      expect(await firstNumber('SELECT count(*) AS batch FROM nodes')).toBe(0);
      await endBackup();
      expect(await (await open()).append(beginning('a'))).toMatchObject({ type: 'appended' });
    });

    it('while a server upgrades the journal, or one of the first version uses it, another start fails for now', async () => {
      const old = new Client({ connectionString: url });
      await old.connect();
      await old.query('SELECT pg_advisory_lock(1630694762, hashtext(current_schema()))');
      await expect(open()).rejects.toMatchObject({
        // A process manager does not start a server again after a CONFIGURATION error.
        reason: 'STORAGE',
        message: expect.stringMatching(/Another server is upgrading the journal in the database/),
      });
      await old.end();
      expect(await (await open()).append(beginning('a'))).toMatchObject({ type: 'appended' });
    });
  });

  describe('appends in one commit', () => {
    it('an append that PostgreSQL cannot store does not refuse the others of its commit', async () => {
      const journal = await open();
      // PostgreSQL limits the size of a row in an index, after compression.
      const long = randomBytes(8_000).toString('hex');
      const [before, refused, after] = await Promise.allSettled([
        journal.append(beginning('a')),
        journal.append(beginning(long)),
        journal.append(beginning('b')),
      ]);
      expect(before).toMatchObject({ status: 'fulfilled', value: { type: 'appended' } });
      expect(refused).toMatchObject({ status: 'rejected', reason: { reason: 'MALFORMED' } });
      expect(after).toMatchObject({ status: 'fulfilled', value: { type: 'appended' } });
      expect(await journal.row('b')).toMatchObject({ seq: 2 });
    });

    it('the length of the events limits a commit', async () => {
      const journal = await open();
      const ids = ['a', 'b', 'c', 'd'];
      await Promise.all(ids.map((id) => journal.append(beginning(id, { events: [working] }))));
      const earlier = await lastBatch();
      const long = 'x'.repeat(10 * 1024 * 1024);
      await Promise.all(ids.map((id) => journal.append(continuing(id, 2, [delta(long)], 'working'))));
      expect((await lastBatch()) - earlier).toBe(ids.length);
    });
  });

  describe('a database that a server cannot use', () => {
    it('X1 the error names the database and the next step, but not the password', async () => {
      const error = await failureOf('postgres://alice:geheim@127.0.0.1:1/tasks');
      expect(error).toMatchObject({
        reason: 'STORAGE',
        message:
          'The database 127.0.0.1:1/tasks cannot be reached: check that PostgreSQL runs and that this machine can connect to it (ECONNREFUSED).',
      });
      expect(JSON.stringify(error)).not.toContain('geheim');
    });

    it('a database that does not exist is a configuration error', async () => {
      expect(await failureOf(url.replace(/test_\d+/, 'missing'))).toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringMatching(/missing does not exist: create it with createdb/),
      });
    });

    it('a database with another encoding than UTF8 is a configuration error', async () => {
      const latin = await server().createDatabase("TEMPLATE template0 ENCODING 'LATIN1'");
      expect(await failureOf(latin)).toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringMatching(/has the encoding LATIN1/),
      });
      await server().dropDatabase(latin);
    });

    it('tables of another program stay unchanged', async () => {
      await administer('CREATE TABLE tasks (mine integer)', 'INSERT INTO tasks VALUES (7)');
      expect(await failureOf(url)).toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringMatching(/contains tables of another program/),
      });
      await administer('SELECT mine FROM tasks', 'DROP TABLE tasks');
    });

    it('a journal of a newer version stays unchanged', async () => {
      await (await open()).close();
      await administer('UPDATE a2a_journal SET version = 99');
      expect(await failureOf(url)).toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringMatching(/written by a newer a2a-server \(version 99/),
      });
    });
  });
});
