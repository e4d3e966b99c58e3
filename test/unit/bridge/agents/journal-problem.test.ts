import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { fetchJournalProblem } from '../../../../bridge/agents/journal-problem.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('an agent that hangs while the bridge connects delays a reply for two seconds only', async () => {
  const connect = jest.fn(() => new Promise<never>(() => undefined));
  const problem = fetchJournalProblem({ name: 'far', connect });
  await jest.advanceTimersByTimeAsync(2_000);
  expect(await problem).toBeUndefined();
  expect(connect).toHaveBeenCalledTimes(1);
});
