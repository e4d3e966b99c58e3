import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withStartLock } from '../../../../bridge/local-server/start-lock.ts';
import { Deferred } from '../../../../shared/runtime/deferred.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

/** The owner of the lock refreshes it at this interval, in milliseconds. */
const UPDATE = 5_000;
const RETRY = 250;

const unexpected = (): Promise<never> => Promise.reject(new Error('a second server was started'));

let state: string;
let lockPath: string;

beforeEach(async () => {
  state = await temporaryDirectory();
  lockPath = join(state, 'server-start.lock');
  jest.useFakeTimers({ doNotFake: ['Date', 'setImmediate', 'nextTick', 'queueMicrotask'] });
});

afterEach(() => {
  jest.useRealTimers();
});

test('if another bridge took the lock while the machine slept, the first bridge ends no process', async () => {
  const result = await withStartLock(state, async (lost) => {
    await rm(lockPath, { recursive: true });
    const aborted = new Promise<void>((resolve) => lost.addEventListener('abort', () => resolve()));
    jest.advanceTimersByTime(UPDATE);
    await aborted;
    return 'done';
  });
  expect(result).toBe('done');
});

test('if another bridge keeps the lock, the error is typed and contains the next step', async () => {
  await mkdir(lockPath);
  const outcome = withStartLock(state, () => Promise.resolve('done'));
  const ended = outcome.then(
    () => true,
    () => true,
  );
  const refused = expect(outcome).rejects.toMatchObject({
    reason: 'AGENT_UNREACHABLE',
    message: expect.stringMatching(/has been starting .* Try again in half a minute/),
  });
  while (!(await Promise.race([ended, nextTurn(false)]))) jest.advanceTimersByTime(RETRY);
  await refused;
});

test('if a start takes too long, the bridge says so, and the lock stays until the server has started', async () => {
  const started = new Deferred<string>();
  const outcome = withStartLock(state, () => started.promise);
  const ended = outcome.catch(() => true);
  while (!(await Promise.race([ended, nextTurn(false)]))) jest.advanceTimersByTime(RETRY);
  await expect(outcome).rejects.toMatchObject({ reason: 'AGENT_UNREACHABLE' });
  const other = (): Promise<string> => withStartLock(state, unexpected, () => Promise.resolve('found'));
  expect(await other()).toBe('found');
  started.resolve('ready');
  while (await stat(lockPath).catch(() => undefined)) await nextTurn();
});

test('the time that each look at the other server takes counts as waiting', async () => {
  await mkdir(lockPath);
  let looks = 0;
  const slowLook = async (): Promise<undefined> => {
    looks += 1;
    jest.advanceTimersByTime(10_000);
    await nextTurn();
  };
  const outcome = withStartLock(state, () => Promise.resolve('done'), slowLook).catch(() => 'refused');
  let ended: string | undefined;
  while (ended === undefined) {
    jest.advanceTimersByTime(RETRY);
    ended = await Promise.race([outcome, nextTurn(undefined)]);
  }
  expect(ended).toBe('refused');
  expect(looks).toBeLessThanOrEqual(3);
});
