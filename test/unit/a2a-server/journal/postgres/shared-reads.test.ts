import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { SharedReads } from '../../../../../a2a-server/journal/postgres/shared-reads.ts';
import { Deferred } from '../../../../../shared/runtime/deferred.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

describe('the shared reads of a database', () => {
  let clock: FakeClock;
  let reads: SharedReads<number>;
  let queries: Deferred<number>[];

  beforeEach(() => {
    clock = new FakeClock();
    reads = new SharedReads<number>(clock);
    queries = [];
  });

  function query(): Promise<number> {
    const result = new Deferred<number>();
    queries.push(result);
    return result.promise;
  }

  function read(count: number): Promise<number[]> {
    return Promise.all(Array.from({ length: count }, () => reads.read('task', query)));
  }

  it('S3 equal reads share one query, but none shares a query that began before the read', async () => {
    const first = read(300);
    expect(await reads.read('another task', () => Promise.resolve(9))).toBe(9);
    expect(queries).toHaveLength(1);
    const second = read(300);
    await nextTurn();
    expect(queries).toHaveLength(1);
    queries[0]?.resolve(1);
    expect(new Set(await first)).toEqual(new Set([1]));
    await nextTurn();
    queries[1]?.reject(new Error('lost'));
    await expect(second).rejects.toThrow('lost');
    const third = read(1);
    await nextTurn();
    queries[2]?.resolve(3);
    expect(await third).toEqual([3]);
    expect(queries).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });

  it('a query whose connection hangs delays the next one by a second only', async () => {
    const first = read(1);
    await nextTurn();
    const second = read(2);
    await nextTurn();
    clock.advance(1_000);
    await nextTurn();
    queries[1]?.resolve(2);
    expect(await second).toEqual([2, 2]);
    queries[0]?.resolve(1);
    expect(await first).toEqual([1]);
  });
});
