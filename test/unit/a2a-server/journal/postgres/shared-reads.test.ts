import { expect, it, jest } from '@jest/globals';
import { SharedReads } from '../../../../../a2a-server/journal/postgres/shared-reads.ts';
import { Deferred } from '../../../../../shared/client/core/deferred.ts';

it('S3 equal reads share one query, but none shares a query that began before the read', async () => {
  const reads = new SharedReads<number>();
  const queries: Deferred<number>[] = [];
  const query = jest.fn(() => {
    const result = new Deferred<number>();
    queries.push(result);
    return result.promise;
  });
  const read = (count: number): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, () => reads.read('task', query)));
  const first = read(300);
  const other = reads.read('another task', () => Promise.resolve(9));
  expect(await other).toBe(9);
  expect(query).toHaveBeenCalledTimes(1);
  const second = read(300);
  queries[0]?.resolve(1);
  expect(new Set(await first)).toEqual(new Set([1]));
  queries[1]?.reject(new Error('lost'));
  await expect(second).rejects.toThrow('lost');
  const third = read(1);
  await Promise.resolve();
  queries[2]?.resolve(3);
  expect(await third).toEqual([3]);
  expect(query).toHaveBeenCalledTimes(3);
});
