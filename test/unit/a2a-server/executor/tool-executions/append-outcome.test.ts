import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { appendOutcome } from '../../../../../a2a-server/executor/tool-executions/append-outcome.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

it.each([
  ['a full disk', 'SQLITE_FULL', 120],
  ['a damaged journal', 'SQLITE_CORRUPT', 1],
])('E2 the outcome of a tool is lost to %s only after all useful attempts', async (_, code, attempts) => {
  const clock = new FakeClock();
  const error = new ProductError('STORAGE', 'It cannot be written.', { facts: { code } });
  let tried = 0;
  const append = (): Promise<never> => {
    tried += 1;
    return Promise.reject(error);
  };
  const { signal } = new AbortController();
  const appended = appendOutcome(append, { clock, signal, onFailure: () => undefined });
  const failed = appended.catch(() => true);
  while (!(await Promise.race([failed, nextTurn(false)]))) clock.advance(5_000);
  await expect(appended).rejects.toBe(error);
  expect(tried).toBe(attempts);
});
