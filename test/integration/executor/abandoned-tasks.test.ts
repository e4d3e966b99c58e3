/** Tests how a server of a shared database takes over the tasks of a server that has died. */
import { describe, expect, it, jest } from '@jest/globals';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { TaskClaim, type OwnershipCallbacks } from '../../../a2a-server/journal/ownership.ts';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { beginning, message, working } from '../../support/journal-samples.ts';
import { journalWith } from '../../support/journal-with.ts';
import type { ScriptedModel } from '../../support/scripted-model.ts';
import { startScripted, type RunningService } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

interface Stage extends RunningService {
  models: ScriptedModel;
  journal: Journal;
  /** The ids of the claimed tasks. */
  claimed: Set<string>;
  state: { leased: boolean; readable: boolean };
  /** Looks for abandoned tasks. Resolves when the server has started or released what it has claimed. */
  look: () => Promise<void>;
}

/** Starts the real service on a real journal, whose ownership behaves like that of a shared database. */
async function start(): Promise<Stage> {
  const stateDir = await temporaryDirectory();
  const journal = await openSqliteJournal({ path: join(stateDir, 'journal.db'), clock: () => 1 });
  const claimed = new Set<string>();
  const state = { leased: true, readable: true };
  let server: OwnershipCallbacks | undefined;
  const newClaim = (taskId: string): TaskClaim => {
    claimed.add(taskId);
    return new TaskClaim({ takenOver: true }, () => state.leased);
  };
  const shared = journalWith(journal, {
    ownership: {
      ...journal.ownership,
      shared: true,
      async start(callbacks) {
        server = callbacks;
      },
      claim: async (taskId) => (state.leased ? newClaim(taskId) : undefined),
      async claimAbandoned(except) {
        const isFree = (taskId: string): boolean => !claimed.has(taskId) && !except.includes(taskId);
        const rows = (await journal.unsettled()).filter(({ taskId }) => isFree(taskId));
        return { claimed: rows.map(({ taskId }) => ({ taskId, claim: newClaim(taskId) })), unopened: [] };
      },
      release: (taskId) => void claimed.delete(taskId),
    },
    row: async (taskId) => {
      if (state.readable) return journal.row(taskId);
      throw new ProductError('STORAGE', 'the database has no free connection');
    },
  });
  const service = await startScripted([], { stateDir, journal: shared });
  await service.tasks.recover();
  const look = async (): Promise<void> => {
    server?.onSearch();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  };
  return { ...service, journal, claimed, state, look };
}

async function untilEnded({ tasks }: Stage, taskId: string): Promise<void> {
  const { signal } = new AbortController();
  for await (const _ of tasks.follow(taskId, 0, { until: 'ended', signal }));
}

describe('a server that claims abandoned tasks', () => {
  it('R112 R117 gives them back if it cannot read them, and runs them after the next look', async () => {
    const stage = await start();
    await stage.journal.append(beginning('a'));
    await stage.journal.append(beginning('b'));
    stage.state.readable = false;
    await stage.look();
    expect(stage.claimed).toEqual(new Set());
    stage.state.readable = true;
    await stage.look();
    await untilEnded(stage, 'a');
    await untilEnded(stage, 'b');
    expect(stage.models.requests).toHaveLength(2);
  });

  it('R112 R114 gives them back if its lease ends before they run, and runs them once it has a lease again', async () => {
    const stage = await start();
    await stage.journal.append(beginning('a'));
    stage.state.leased = false;
    await stage.look();
    expect(stage.claimed).toEqual(new Set());
    stage.state.leased = true;
    await stage.look();
    await untilEnded(stage, 'a');
    expect(stage.models.requests).toHaveLength(1);
  });

  it.each([
    { state: 'submitted', type: 'task.queued', first: message('do a') },
    { state: 'working', type: 'model.unavailable', first: working },
  ])(
    'R119 leaves a $state task to the other servers if it does not offer its model, and the task says so if no server continues it',
    async ({ state, type, first }) => {
      const stage = await start();
      const resolve = jest.spyOn(stage.models, 'resolve').mockImplementation(() => {
        throw new ProductError('UNKNOWN_MODEL', 'This server has no such model.');
      });
      await stage.journal.append(beginning('a', { events: [first] }));
      const events = async () => (await stage.journal.read('a', 2, 9)).map(({ event }) => event);
      await stage.look();
      await stage.look();
      expect([stage.claimed, resolve.mock.calls.length, await events()]).toEqual([new Set(), 1, []]);
      for (const times of [2, 3]) {
        stage.clock.advance(10_000);
        await stage.look();
        expect([stage.claimed, resolve.mock.calls.length]).toEqual([new Set(), times]);
        expect(await events()).toMatchObject([{ type, text: expect.stringContaining('offers its model') }]);
        expect(await stage.journal.row('a')).toMatchObject({ state });
      }
      resolve.mockRestore();
      stage.clock.advance(10_000);
      await stage.look();
      await untilEnded(stage, 'a');
      expect((await events()).at(-1)).toMatchObject({ type: 'task.completed' });
    },
  );
});
