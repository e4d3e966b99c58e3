import { describe, expect, it } from '@jest/globals';
import type { CommitOutcome } from '../../../shared/runtime/commit-queue.ts';
import { GroupCommit } from '../../../shared/sqlite/group-commit.ts';

/** Starts a commit of numbers. Odd numbers are refused, and a zero makes the whole commit fail. */
function start(weightPerCommit = 1_000) {
  const groups: number[][] = [];
  const queue = new GroupCommit<number, string>({
    commit(items) {
      groups.push([...items]);
      if (items.includes(0)) throw new Error('the disk is full');
      return items.map((item): CommitOutcome<string> =>
        item % 2 === 0
          ? { type: 'done', result: `did ${item}` }
          : { type: 'refused', error: new Error(`refused ${item}`) },
      );
    },
    weigh: (item) => item,
    weightPerCommit,
  });
  const add = (...items: number[]) => Promise.all(items.map((item) => queue.add(item).catch(String)));
  return { groups, queue, add };
}

/** Starts commits that each take `ms` of a fake time. */
function startTimed(ms: number) {
  const timing = { time: 100, idle: 0, timers: [] as { ms: number; act: () => void }[] };
  const groups: string[][] = [];
  const queue = new GroupCommit<string, string>({
    commit(items) {
      groups.push([...items]);
      timing.time += ms;
      return items.map((item) => ({ type: 'done', result: item }));
    },
    weigh: () => 1,
    weightPerCommit: 3,
    timing: {
      now: () => timing.time,
      idle: () => timing.idle,
      after: (rest, act) => timing.timers.push({ ms: rest, act }),
    },
  });
  /** Lets the next timer end. The event loop was idle for `idle` milliseconds until then. */
  const pass = (idle = 0): void => {
    const timer = timing.timers.shift();
    timing.time += timer?.ms ?? 0;
    timing.idle += idle;
    timer?.act();
  };
  return { timing, groups, queue, pass };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('GroupCommit beside several writers', () => {
  it('waits for more items soon after a shared commit, four times as long as that commit took', async () => {
    const { timing, groups, queue, pass } = startTimed(1);
    await Promise.all([queue.add('a'), queue.add('b')]);
    timing.time += 1;
    const first = queue.add('c');
    await turn();
    const second = queue.add('d');
    for (let passed = 1; passed < 4; passed += 1) pass();
    expect(groups).toHaveLength(1);
    pass();
    expect(await Promise.all([first, second])).toEqual(['c', 'd']);
    expect(groups).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('waits at most five milliseconds, and not at all after a time without a shared commit', async () => {
    const { timing, groups, queue, pass } = startTimed(20);
    await Promise.all([queue.add('a'), queue.add('b')]);
    const soon = queue.add('c');
    for (let passed = 1; passed < 5; passed += 1) pass();
    expect(groups).toHaveLength(1);
    pass();
    await soon;
    await Promise.all([queue.add('d'), queue.add('e')]);
    timing.time += 21;
    await queue.add('f');
    expect(timing.timers).toEqual([]);
  });

  it('waits no longer when the event loop has no other work', async () => {
    const { groups, queue, pass } = startTimed(20);
    await Promise.all([queue.add('a'), queue.add('b')]);
    const soon = queue.add('c');
    pass(0.4);
    expect(groups).toHaveLength(1);
    pass(0.6);
    expect(await soon).toBe('c');
  });

  it('never lets items wait that come one at a time', async () => {
    const { timing, groups, queue } = startTimed(1);
    for (const item of ['a', 'b', 'c']) await queue.add(item);
    expect([groups.length, timing.timers]).toEqual([3, []]);
  });

  it('does not wait if the last commit took less than a quarter of a millisecond', async () => {
    const { timing, queue } = startTimed(0.2);
    await Promise.all([queue.add('a'), queue.add('b')]);
    await queue.add('c');
    expect(timing.timers).toEqual([]);
  });

  it('commits the rest of a full group without a wait, and on flush', async () => {
    const { timing, groups, queue, pass } = startTimed(1);
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((item) => queue.add(item)));
    expect([groups, timing.timers]).toEqual([
      [
        ['a', 'b', 'c'],
        ['d', 'e'],
      ],
      [],
    ]);
    const last = queue.add('f');
    queue.flush();
    expect(await last).toBe('f');
    for (let passed = 0; passed < 4; passed += 1) pass();
    expect(groups).toHaveLength(3);
  });
});

describe('GroupCommit, which joins writes in one transaction', () => {
  it('GroupCommit commits the items of one turn of the event loop together, in order', async () => {
    const { groups, add } = start();
    const first = add(2, 4);
    await Promise.resolve();
    const second = add(6);
    expect(groups).toEqual([]);
    expect([await first, await second]).toEqual([['did 2', 'did 4'], ['did 6']]);
    expect(groups).toEqual([[2, 4, 6]]);
    await add(8);
    expect(groups).toEqual([[2, 4, 6], [8]]);
  });

  it('GroupCommit refuses one item without an effect on the other items', async () => {
    expect(await start().add(2, 3, 4)).toEqual(['did 2', 'Error: refused 3', 'did 4']);
  });

  it('GroupCommit rejects all items of a failed commit, and continues with the next commit', async () => {
    const { add } = start();
    expect(await add(2, 0, 3)).toEqual(Array.from({ length: 3 }, () => 'Error: the disk is full'));
    expect(await add(2)).toEqual(['did 2']);
  });

  it('GroupCommit limits a commit by weight, but takes at least one item', async () => {
    const { groups, add } = start(10);
    expect(await add(4, 6, 2, 100, 8, 2)).toHaveLength(6);
    expect(groups).toEqual([
      [4, 6],
      [2, 100],
      [8, 2],
    ]);
  });

  it('GroupCommit lets the event loop run between two commits', async () => {
    const { groups, add } = start(2);
    const all = add(2, 4, 6);
    const groupsByTurn: number[] = [];
    while (groups.length < 3) {
      await new Promise((resolve) => setImmediate(resolve));
      groupsByTurn.push(groups.length);
    }
    await all;
    expect(groups).toEqual([[2], [4], [6]]);
    expect(groupsByTurn).toEqual([1, 2, 3]);
  });

  it('GroupCommit commits all waiting items on flush, and no item twice', async () => {
    const { groups, queue, add } = start(4);
    const all = add(2, 4, 6);
    queue.flush();
    expect(groups).toEqual([[2, 4], [6]]);
    expect(await all).toEqual(['did 2', 'did 4', 'did 6']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(groups).toHaveLength(2);
  });

  it('GroupCommit settles an item that was added during a commit in a later commit', async () => {
    const groups: string[][] = [];
    let late: Promise<string> | undefined;
    const queue: GroupCommit<string, string> = new GroupCommit({
      commit(items) {
        groups.push([...items]);
        late ??= queue.add('late');
        return items.map((item) => ({ type: 'done', result: item }));
      },
      weigh: () => 1,
      weightPerCommit: 10,
    });
    await queue.add('first');
    expect(await late).toBe('late');
    expect(groups).toEqual([['first'], ['late']]);
  });
});
