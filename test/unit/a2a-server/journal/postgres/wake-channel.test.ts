/** Tests the wake-ups between two servers on one PostgreSQL database. The second server is played by a plain client. */
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { Deferred } from '../../../../../shared/runtime/deferred.ts';
import { type ChangedTasks, CommittedEntries } from '../../../../../a2a-server/journal/committed-entries.ts';
import type { Journal } from '../../../../../a2a-server/journal/journal.ts';
import { parseDatabaseUrl, openPostgresPool } from '../../../../../a2a-server/journal/postgres/driver.ts';
import { openPostgresJournal } from '../../../../../a2a-server/journal/postgres/postgres-journal.ts';
import { parseWakePayload, wakePayloads } from '../../../../../a2a-server/journal/postgres/wake-message.ts';
import { JournalWakeChannel } from '../../../../../a2a-server/journal/postgres/wake-channel.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { beginning, continuing, delta } from '../../../../support/journal-samples.ts';
import { startProxy, type PostgresProxy } from '../../../../support/postgres-proxy.ts';
import { onPostgres } from '../../../../support/on-postgres.ts';

onPostgres([], (server) => {
  let proxy: PostgresProxy;
  let other: Client;
  let journal: Journal;
  let removed: Deferred<Error>;

  beforeEach(async () => {
    const url = await server().createDatabase();
    proxy = await startProxy(url);
    // The wake-ups go around the proxy's faults, or through them.
    removed = new Deferred();
    const onRemoved = (error: Error): void => removed.resolve(error);
    journal = await openPostgresJournal({ url, listenUrl: proxy.url, clock: () => 1, onRemoved });
    other = new Client({ connectionString: url });
    await other.connect();
  });

  afterEach(async () => {
    await other.end();
    await journal.close();
    await proxy.close();
  });

  /** Appends an entry as another server does. */
  async function appendElsewhere(taskId: string, seq: number): Promise<void> {
    await other.query('BEGIN');
    await other.query(
      'INSERT INTO events (task, seq, at, body) SELECT key, $2, 1, $3 FROM tasks WHERE task_id = $1',
      [taskId, seq, JSON.stringify(delta(`entry ${seq}`))],
    );
    await other.query('UPDATE tasks SET seq = $2 WHERE task_id = $1', [taskId, seq]);
    await other.query('COMMIT');
  }

  async function notifyElsewhere(taskId: string, seq: number): Promise<void> {
    const [payload] = wakePayloads({ sender: 'another server', heads: new Map([[taskId, seq]]) });
    await other.query("SELECT pg_notify('a2a_journal', $1)", [payload]);
  }

  /** Resolves when a watcher of the task reads this `seq`. Reads only when it is woken. */
  async function seen(taskId: string, seq: number): Promise<void> {
    let woken = new Deferred<void>();
    const stop = journal.watch(taskId, () => woken.resolve());
    for (;;) {
      await woken.promise;
      // A wake-up during the read counts too.
      woken = new Deferred();
      if ((await journal.read(taskId, seq - 1, 1)).length > 0) return stop();
    }
  }

  /** Watches the task until a comparison of heads has passed. Later wakes then have another cause. */
  async function settledWatch(taskId: string): Promise<() => void> {
    const woken = new Deferred<void>();
    const stop = journal.watch(taskId, () => woken.resolve());
    await woken.promise;
    return stop;
  }

  describe('wake-ups between servers', () => {
    it('R111 a server’s wake-up reaches the watchers of the other servers, and not its own', async () => {
      // The clock stands still, so no comparison of heads wakes a watcher.
      const clock = new FakeClock();
      const reader = openPostgresPool(parseDatabaseUrl(proxy.url), { most: 1, waitMs: 5_000 });
      const [a, b] = await Promise.all(
        ['a', 'b'].map(async (id) => {
          const committed = new CommittedEntries();
          const options = { server: id, clock, reader, committed };
          return { committed, wakeUps: await JournalWakeChannel.open(parseDatabaseUrl(proxy.url), options) };
        }),
      );
      const own = jest.fn();
      a?.committed.watch('task', own);
      const woken = new Promise<void>((resolve) => b?.committed.watch('task', resolve));
      a?.wakeUps.send(new Map([['task', 3]]));
      await woken;
      // PostgreSQL delivers notifications in order, so A has received its own before B's.
      const answered = new Promise<void>((resolve) => a?.committed.watch('another task', resolve));
      b?.wakeUps.send(new Map([['another task', 3]]));
      await answered;
      expect(own).not.toHaveBeenCalled();
      a?.wakeUps.close();
      b?.wakeUps.close();
      await reader.close();
    });

    it('R116 without a wake-up, a watcher reads the entry of another server after the next comparison', async () => {
      await journal.append(beginning('task'));
      const wait = seen('task', 3);
      await appendElsewhere('task', 3);
      await wait;
    });

    it('R116 a lost connection is opened again, and the heads are compared at once', async () => {
      await journal.append(beginning('task'));
      const stop = await settledWatch('task');
      const wait = seen('task', 3);
      await appendElsewhere('task', 3);
      proxy.cut();
      await wait;
      const again = seen('task', 4);
      await appendElsewhere('task', 4);
      await notifyElsewhere('task', 4);
      await again;
      stop();
    });

    it('R116 the tasks of other servers’ wake-ups are reported, and after a lost connection any task may have changed', async () => {
      const url = await server().createDatabase();
      const own = await startProxy(url);
      let changed = new Deferred<ChangedTasks>();
      const options = { url, listenUrl: own.url, clock: () => 1 };
      const a = await openPostgresJournal({
        ...options,
        onChangedElsewhere: (tasks) => changed.resolve(tasks),
      });
      const b = await openPostgresJournal({ url, clock: () => 1 });
      await a.append(beginning('own task'));
      await b.append(beginning('task'));
      expect(await changed.promise).toEqual(['task']);
      changed = new Deferred();
      own.cut();
      expect(await changed.promise).toBe('unknown');
      await Promise.all([a.close(), b.close()]);
      await own.close();
      await server().dropDatabase(url);
    });

    it('S1 a server learns from the heads that the database has lost entries which its readers have', async () => {
      await journal.append(beginning('task'));
      await journal.append(beginning('deleted'));
      const stops = [await settledWatch('task'), await settledWatch('deleted')];
      // Another program of the database names an entry that nobody has stored.
      await notifyElsewhere('deleted', 9);
      const wait = seen('task', 3);
      await appendElsewhere('task', 3);
      await wait;
      await other.query("DELETE FROM tasks WHERE task_id = 'deleted'");
      // An asynchronous standby has become the primary.
      await other.query("UPDATE tasks SET seq = 2 WHERE task_id = 'task'");
      expect(String((await removed.promise).cause)).toContain('lost entries of the task task');
      for (const stop of stops) stop();
    });

    it('S1 a server notices a loss after which another server has appended as many entries', async () => {
      await journal.append(beginning('task'));
      const stop = await settledWatch('task');
      await journal.append(continuing('task', 2, [delta('lost')]));
      await other.query('DELETE FROM events WHERE seq = 3; UPDATE events SET at = 2 WHERE seq < 3');
      await other.query(
        "INSERT INTO events (task, seq, at, body) SELECT key, 3, 2, $1 FROM tasks WHERE task_id = 'task'",
        [JSON.stringify(delta('another'))],
      );
      expect(String((await removed.promise).cause)).toContain('lost entries of the task task');
      stop();
    });

    it('R116 a connection that delivers nothing makes a watcher late, but the watcher misses nothing', async () => {
      await journal.append(beginning('task'));
      proxy.freeze();
      const wait = seen('task', 3);
      await appendElsewhere('task', 3);
      await notifyElsewhere('task', 3);
      await wait;
    });

    it('a wake-up names the durable head of each task of a commit, and no append waits for it', async () => {
      await other.query('LISTEN a2a_journal');
      const notified = once(other, 'notification');
      await journal.append(beginning('task'));
      const [{ payload }] = await notified;
      expect(parseWakePayload(String(payload))?.heads).toEqual(new Map([['task', 2]]));
      proxy.freeze();
      expect(await journal.append(continuing('task', 2, [delta('next')]))).toMatchObject({
        type: 'appended',
      });
    });

    it('X3 a payload of another program changes nothing', async () => {
      await journal.append(beginning('task'));
      await other.query("SELECT pg_notify('a2a_journal', '{')");
      const wait = seen('task', 3);
      await appendElsewhere('task', 3);
      await notifyElsewhere('task', 3);
      await wait;
    });

    it('a row that names newer entries than the cached ones is followed by these entries', async () => {
      await journal.append(beginning('task'));
      const stop = await settledWatch('task');
      await journal.append(continuing('task', 2, [delta('cached')]));
      await appendElsewhere('task', 4);
      expect((await journal.row('task'))?.seq).toBe(4);
      expect((await journal.read('task', 2, 10)).map(({ seq }) => seq)).toEqual([3, 4]);
      stop();
    });

    it('an address of the wake-ups that cannot be reached is named at the start', async () => {
      const url = await server().createDatabase();
      await expect(
        openPostgresJournal({ url, listenUrl: 'postgres://127.0.0.1:1/elsewhere', clock: () => 1 }),
      ).rejects.toThrow('127.0.0.1:1/elsewhere');
      await server().dropDatabase(url);
    });
  });
});
