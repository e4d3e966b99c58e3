import { expect, test } from '@jest/globals';
import { KeyedMutex } from '../../../../a2a-server/runtime/keyed-mutex.ts';

/** Returns a function that records its start, and ends when the test calls `end`. */
function step(name: string, started: string[]) {
  let end: (() => void) | undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  return {
    end: () => end?.(),
    act: async (): Promise<string> => {
      started.push(name);
      await over;
      return name;
    },
  };
}

test('functions of one key run one after the other, in order, and others do not wait', async () => {
  const mutex = new KeyedMutex();
  const started: string[] = [];
  const [first, second, third, other] = ['first', 'second', 'third', 'other'].map((name) =>
    step(name, started),
  );
  if (!first || !second || !third || !other) throw new Error('a step is missing');
  const runs = [
    mutex.run('key', first.act),
    mutex.run('key', second.act),
    mutex.run('key', third.act),
    mutex.run('other', other.act),
  ];
  expect(started).toEqual(['first', 'other']);
  first.end();
  await runs[0];
  await new Promise(setImmediate);
  expect(started).toEqual(['first', 'other', 'second']);
  for (const each of [second, third, other]) each.end();
  expect(await Promise.all(runs)).toEqual(['first', 'second', 'third', 'other']);
  expect(started).toEqual(['first', 'other', 'second', 'third']);
});

test('after a function that fails, the next function of its key runs', async () => {
  const mutex = new KeyedMutex();
  const failing = mutex.run('key', () => Promise.reject(new Error('it failed')));
  const next = mutex.run('key', () => Promise.resolve('done'));
  await expect(failing).rejects.toThrow('it failed');
  expect(await next).toBe('done');
});
