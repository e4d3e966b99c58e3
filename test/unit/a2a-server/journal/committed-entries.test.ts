import { describe, expect, it, jest } from '@jest/globals';
import { CommittedEntries } from '../../../../a2a-server/journal/committed-entries.ts';
import { prepareAppend } from '../../../../a2a-server/journal/prepared-append.ts';
import { continuing, delta } from '../../../support/journal-samples.ts';

const microtasks = () => new Promise((resolve) => setImmediate(resolve));

/** A watched task of which other servers append entries too. */
function stage() {
  const committed = new CommittedEntries();
  const wake = jest.fn();
  const stop = committed.watch('task', wake);
  return {
    committed,
    stop,
    publish: (seq: number): void => {
      const append = prepareAppend(continuing('task', seq - 1, [delta(String(seq))]));
      const entries = [{ seq, at: 1, event: delta(String(seq)) }];
      committed.publish([append], [{ type: 'done', result: { type: 'appended', entries } }]);
    },
    cached: (after: number) => committed.read('task', after, 10)?.map(({ seq }) => seq),
    wakes: async (): Promise<number> => {
      await microtasks();
      return wake.mock.calls.length;
    },
  };
}

describe('the committed entries of several servers', () => {
  it('R111 the head of another server’s append wakes the watchers once, and the cached entries are forgotten', async () => {
    const { committed, publish, cached, wakes } = stage();
    publish(5);
    expect(cached(4)).toEqual([5]);
    expect(await wakes()).toBe(1);
    committed.noteNotifiedHead('task', 6);
    // A woken watcher reads the entry.
    committed.noteStored('task', { seq: 6, at: 1 });
    committed.noteStoredHead('task', 6);
    expect(await wakes()).toBe(2);
    expect(cached(4)).toBeUndefined();
  });

  it('the head of this server’s own append wakes nobody again', async () => {
    const { committed, publish, cached, wakes } = stage();
    publish(5);
    committed.noteStoredHead('task', 5);
    committed.noteStoredHead('task', 4);
    committed.noteNotifiedHead('task', 4);
    expect(await wakes()).toBe(1);
    expect(cached(4)).toEqual([5]);
  });

  it('R116 the first comparison wakes a new watcher, because an append may have come before it', async () => {
    const { committed, wakes } = stage();
    committed.noteStoredHead('task', 5);
    expect(await wakes()).toBe(1);
  });

  it('S1 a notification proves no stored entry, and a wrong one delays no later wake', async () => {
    const { committed, publish, wakes } = stage();
    publish(5);
    committed.noteNotifiedHead('task', 1_000);
    expect(await wakes()).toBe(2);
    expect(committed.watched().get('task')).toEqual({ seq: 5, at: 1 });
    committed.noteStoredHead('task', 6);
    expect(await wakes()).toBe(3);
  });

  it.each([
    ['another notification', (committed: CommittedEntries) => committed.noteNotifiedHead('task', 6)],
    ['a comparison', (committed: CommittedEntries) => committed.noteStoredHead('task', 6)],
  ])('R116 a notification that comes before its entry delays no reader: %s wakes again', async (_, note) => {
    const { committed, publish, wakes } = stage();
    publish(5);
    committed.noteNotifiedHead('task', 6);
    expect(await wakes()).toBe(2);
    note(committed);
    expect(await wakes()).toBe(3);
  });

  it('S1 an own append that is published after a newer one of another server is not cached as the newest', () => {
    const { committed, publish, cached } = stage();
    committed.noteNotifiedHead('task', 6);
    publish(5);
    expect(cached(4)).toBeUndefined();
    publish(7);
    expect(cached(6)).toEqual([7]);
  });

  it('cached entries are forgotten if a row of the database has newer ones', () => {
    const { committed, publish, cached } = stage();
    publish(5);
    committed.forgetBefore('task', 5);
    expect(cached(4)).toEqual([5]);
    committed.forgetBefore('task', 6);
    expect(cached(4)).toBeUndefined();
  });

  it('a deletion by another server wakes the watchers', async () => {
    const { committed, publish, cached, wakes } = stage();
    publish(5);
    committed.noteStoredHead('task', 0);
    expect(await wakes()).toBe(2);
    expect(cached(4)).toBeUndefined();
  });

  it('S3 nothing is stored for a task without watchers', async () => {
    const { committed, stop, wakes } = stage();
    committed.noteStoredHead('task', 5);
    stop();
    expect(committed.watched().size).toBe(0);
    committed.noteStoredHead('task', 6);
    expect(await wakes()).toBe(0);
  });
});
