/** Tests the claims of tasks by several servers on one real PostgreSQL. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { AppendRequest, Journal } from '../../../../../a2a-server/journal/journal.ts';
import type { TaskClaim, OwnershipCallbacks } from '../../../../../a2a-server/journal/ownership.ts';
import { openPostgresJournal } from '../../../../../a2a-server/journal/postgres/postgres-journal.ts';
import { beginning, continuing, delta, working } from '../../../../support/journal-samples.ts';
import { ASK_AGAIN_MS, beginTransaction, untilWaitingForLocks } from '../../../../support/postgres-locks.ts';
import { startProxy, type PostgresProxy } from '../../../../support/postgres-proxy.ts';
import { onPostgres } from '../../../../support/on-postgres.ts';

async function claimed({ ownership }: Journal, taskId: string): Promise<TaskClaim> {
  const claim = await ownership.claim(taskId);
  if (claim === undefined) throw new Error(`${taskId} cannot be claimed`);
  return claim;
}

const next = (seq: number, claim: TaskClaim) => ({
  ...continuing('a', seq, [delta('x')], 'working'),
  epoch: claim.epoch ?? 0,
});

/** The append that creates a task with this workspace. */
function inWorkspace(taskId: string, workspace: string, events = [working]): AppendRequest {
  const append = beginning(taskId, { events });
  const [first, ...rest] = append.events;
  if (first?.type !== 'task.created') throw new Error('the sample has changed');
  return { ...append, events: [{ ...first, settings: { workspace } }, ...rest] };
}

onPostgres([], (server) => {
  let url: string;
  let proxy: PostgresProxy;
  const journals: Journal[] = [];

  beforeEach(async () => {
    url = await server().createDatabase();
    proxy = await startProxy(url);
  });

  afterEach(async () => {
    for (const journal of journals.splice(0)) await journal.close();
    await proxy.close();
    await server().dropDatabase(url);
  });

  async function started(
    from = url,
    { label, ...owner }: Partial<OwnershipCallbacks> & { label?: string } = {},
  ): Promise<Journal> {
    const journal = await openPostgresJournal({ url: from, label, clock: () => 1 });
    journals.push(journal);
    await journal.ownership.start({
      onSearch: () => undefined,
      ended: () => undefined,
      canOpen: async () => true,
      ...owner,
    });
    return journal;
  }

  /** Creates tasks that have no owner. */
  async function addTasks(...taskIds: string[]): Promise<void> {
    const journal = await started();
    for (const id of taskIds) await journal.append(beginning(id, { events: [working] }));
    await journal.close();
  }

  async function administer(...statements: string[]): Promise<void> {
    const client = new Client({ connectionString: url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  describe('a claim', () => {
    it('E1 of two servers that claim a task at the same time, one gets it', async () => {
      await addTasks('a');
      const [first, second] = [await started(), await started()];
      for (let round = 0; round < 20; round += 1) {
        const claims = await Promise.all([first.ownership.claim('a'), second.ownership.claim('a')]);
        expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
        const [mine, other] = claims;
        if (mine) first.ownership.release('a', mine);
        if (other) second.ownership.release('a', other);
        // The connection of a server runs its statements in order, so this claim follows the release.
        await (mine ? first : second).ownership.claim('none');
      }
    });

    it('E1 two servers that look for abandoned tasks at the same time share them', async () => {
      const ids = Array.from({ length: 40 }, (_, index) => `task-${index}`);
      await addTasks(...ids);
      const [first, second] = [await started(), await started()];
      const found = await Promise.all([first, second].map(({ ownership }) => ownership.claimAbandoned([])));
      const rest = await first.ownership.claimAbandoned([]);
      const all = [...found, rest].flatMap(({ claimed: tasks }) => tasks).map(({ taskId }) => taskId);
      expect(all.toSorted()).toEqual(ids.toSorted());
      expect(found.flatMap(({ claimed: tasks }) => tasks).every(({ claim }) => claim.takenOver)).toBe(true);
    });

    it('a server does not claim the task of a living server, until that releases it', async () => {
      await addTasks('a');
      const [first, second] = [await started(), await started()];
      const claim = await claimed(first, 'a');
      expect(await second.ownership.claim('a')).toBeUndefined();
      expect(await second.ownership.claimAbandoned([])).toEqual({ claimed: [], unopened: [] });
      first.ownership.release('a', claim);
      await first.ownership.claim('none');
      expect((await claimed(second, 'a')).takenOver).toBe(false);
    });

    it('R119 a server claims only tasks whose workspace it can open', async () => {
      const journal = await started();
      await journal.append(inWorkspace('a', '/here'));
      await journal.append(inWorkspace('b', '/elsewhere'));
      await journal.close();
      const { ownership } = await started(url, { canOpen: async (workspace) => workspace === '/here' });
      const found = await ownership.claimAbandoned([]);
      expect(found.claimed.map(({ taskId }) => taskId)).toEqual(['a']);
      expect(found.unopened).toEqual([{ taskId: 'b', workspace: '/elsewhere', label: null }]);
      expect(await ownership.claim('b')).toBeUndefined();
      const other = await started();
      await ownership.claim('none');
      expect(await other.ownership.claim('b')).toBeDefined();
    });

    it('R119 a server claims only tasks with its own label, or without one if it has none', async () => {
      for (const label of ['disk-1', undefined]) {
        const journal = await started(url, label === undefined ? {} : { label });
        await journal.append(inWorkspace(label ?? 'unlabelled', '/work'));
        await journal.close();
      }
      const { ownership } = await started(url, { label: 'disk-1' });
      expect(await ownership.claim('unlabelled')).toBeUndefined();
      expect([await ownership.isHere('disk-1'), await ownership.isHere('unlabelled')]).toEqual([true, false]);
      const found = await ownership.claimAbandoned([]);
      expect(found.claimed.map(({ taskId }) => taskId)).toEqual(['disk-1']);
      expect(found.unopened).toEqual([{ taskId: 'unlabelled', workspace: '/work', label: null }]);
      const other = await started();
      expect(await other.ownership.claim('disk-1')).toBeUndefined();
      expect(await other.ownership.claim('unlabelled')).toBeDefined();
    });

    it.each([
      ['whose workspace no server can open', undefined],
      ['of a label whose servers are down', 'disk-1'],
    ])(
      'R112 R119 hundreds of tasks %s are found, and do not keep a server from claiming another task',
      async (_why, label) => {
        const journal = await started(url, label === undefined ? {} : { label });
        const ids = Array.from({ length: 201 }, (_, index) => `lost-${index}`);
        await journal.append(inWorkspace('submitted', '/gone', []));
        await Promise.all(ids.map((id) => journal.append(inWorkspace(id, '/gone'))));
        await journal.close();
        const last = await started();
        await last.append(inWorkspace('a', '/here'));
        await last.close();
        const { ownership } = await started(url, { canOpen: async (workspace) => workspace === '/here' });
        const found = await ownership.claimAbandoned([]);
        expect(found.claimed.map(({ taskId }) => taskId)).toEqual(['a']);
        expect(found.unopened.map(({ taskId }) => taskId).toSorted()).toEqual(ids.toSorted());
      },
    );

    it('a server that closes its journal leaves its tasks to the others at once', async () => {
      await addTasks('a');
      const [first, second] = [await started(), await started()];
      await claimed(first, 'a');
      await first.close();
      expect(await second.ownership.claimAbandoned([])).toMatchObject({
        claimed: [{ taskId: 'a', claim: { takenOver: true } }],
      });
    });

    it('E1 a server does not claim again what it owns or still stops', async () => {
      await addTasks('a', 'b', 'c');
      const { ownership } = await started();
      await ownership.claim('a');
      const { claimed: found } = await ownership.claimAbandoned(['b']);
      expect(found.map(({ taskId }) => taskId)).toEqual(['c']);
    });
  });

  /** Waits for the next renewal of a lease, or until the claim is lost. */
  async function renewedOrLost(claim: TaskClaim): Promise<'renewed' | 'lost'> {
    const client = new Client({ connectionString: url });
    await client.connect();
    const leaseEnd = async (): Promise<string | undefined> =>
      (await client.query<{ end: string }>('SELECT max(lease_until)::text AS end FROM nodes')).rows[0]?.end;
    const before = await leaseEnd();
    const wait = { over: false };
    claim.onLost(() => (wait.over = true));
    while (!wait.over && (await leaseEnd()) === before)
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    await client.end();
    return wait.over ? 'lost' : 'renewed';
  }

  describe('the lease of a server', () => {
    it('E1 is renewed while a commit of the server waits, so the server keeps its tasks', async () => {
      await addTasks('a', 'b');
      const journal = await started();
      const claim = await claimed(journal, 'b');
      const commit = await beginTransaction(url, "SELECT 1 FROM tasks WHERE task_id = 'a' FOR UPDATE");
      const append = journal.append(continuing('a', 2, [delta('x')], 'working'));
      await untilWaitingForLocks(url, 1);
      const outcome = await renewedOrLost(claim);
      await commit();
      expect(outcome).toBe('renewed');
      expect(await append).toMatchObject({ type: 'appended' });
    });

    it('E1 is renewed while many claims of the server wait for locks', async () => {
      const ids = Array.from({ length: 20 }, (_, index) => `task-${index}`);
      await addTasks('a', ...ids);
      const { ownership } = await started();
      const claim = await ownership.claim('a');
      if (claim === undefined) throw new Error('the task cannot be claimed');
      const commit = await beginTransaction(url, "SELECT 1 FROM tasks WHERE task_id <> 'a' FOR UPDATE");
      const claims = Promise.all(ids.map((id) => ownership.claim(id)));
      await untilWaitingForLocks(url, 1);
      const outcome = await renewedOrLost(claim);
      await commit();
      expect(outcome).toBe('renewed');
      await claims;
    });
  });

  describe('an append of an execution', () => {
    it('R113 a claim waits for a commit of the old owner that has begun, and the new owner gets its events', async () => {
      await addTasks('a');
      const [first, second] = [await started(), await started()];
      const old = await claimed(first, 'a');
      expect(await first.append(next(2, old))).toMatchObject({ type: 'appended' });
      await administer("UPDATE tasks SET owner = 'a server without a lease'");
      // The commit has updated the task, and waits before it writes the event.
      const unlock = await beginTransaction(url, 'LOCK TABLE events IN SHARE MODE');
      const append = first.append(next(3, old));
      await untilWaitingForLocks(url, 1);
      expect(await second.ownership.claim('a')).toBeUndefined();
      expect(await second.ownership.claimAbandoned([])).toMatchObject({ claimed: [] });
      await unlock();
      expect(await append).toMatchObject({ type: 'appended' });
      const claim = await claimed(second, 'a');
      expect((await second.read('a', 0, 10)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
      expect(await first.append(next(4, old))).toEqual({ type: 'fenced' });
      expect(await second.append(next(4, claim))).toMatchObject({ type: 'appended' });
    });

    it('R113 a commit that has begun before another claim, but reaches the task after it, is fenced', async () => {
      await addTasks('a');
      const journal = await started();
      const old = await claimed(journal, 'a');
      expect(await journal.append(next(2, old))).toMatchObject({ type: 'appended' });
      const commit = await beginTransaction(url, "UPDATE tasks SET owner = 'other', epoch = epoch + 1");
      const append = journal.append(next(3, old));
      await untilWaitingForLocks(url, 1);
      await commit();
      expect(await append).toEqual({ type: 'fenced' });
      expect(await journal.row('a')).toMatchObject({ seq: 3 });
    });

    it('R113 after another claim, it is fenced; a command is not', async () => {
      await addTasks('a');
      const [first, second] = [await started(), await started()];
      const old = await claimed(first, 'a');
      expect(await first.append(next(2, old))).toMatchObject({ type: 'appended' });
      await administer("UPDATE tasks SET owner = 'a server without a lease'");
      const claim = await claimed(second, 'a');
      expect(claim.takenOver).toBe(true);
      expect(await first.append(next(3, old))).toEqual({ type: 'fenced' });
      expect(await second.append(next(3, claim))).toMatchObject({ type: 'appended' });
      expect(await first.append(next(4, old))).toEqual({ type: 'fenced' });
      expect(await first.append(continuing('a', 4, [delta('command')], 'working'))).toMatchObject({
        type: 'appended',
      });
    });

    it('R113 after the end of the lease it is fenced, and other appends of the same commit are written', async () => {
      await addTasks('a', 'b');
      const journal = await started();
      const claim = await claimed(journal, 'a');
      expect(await journal.append(next(2, claim))).toMatchObject({ type: 'appended' });
      // The server renews its lease again and again, so the database forces each renewal to fail.
      await administer(
        "CREATE FUNCTION end_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.lease_until = '-infinity'; RETURN NEW; END $$",
        'CREATE TRIGGER end_lease BEFORE UPDATE ON nodes FOR EACH ROW EXECUTE FUNCTION end_lease()',
        'UPDATE nodes SET batch = batch',
      );
      const results = await Promise.all([
        journal.append(next(3, claim)),
        journal.append(continuing('b', 2, [delta('x')], 'working')),
      ]);
      expect(results.map(({ type }) => type)).toEqual(['fenced', 'appended']);
    });
  });

  describe('a server that cannot reach the database', () => {
    it('R114 loses its claims before its lease ends, and claims again later', async () => {
      await addTasks('a');
      const [first, second] = [await started(proxy.url), await started()];
      const claim = await claimed(first, 'a');
      proxy.freeze();
      await new Promise<void>((resolve) => claim.onLost(resolve));
      // The lease has not ended yet.
      expect(await second.ownership.claim('a')).toBeUndefined();
      expect(claim.held).toBe(false);
      expect(await first.ownership.claim('a')).toBeUndefined();
    });
  });
});
