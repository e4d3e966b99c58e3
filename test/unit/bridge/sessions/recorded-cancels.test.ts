import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { RecordedCancels } from '../../../../bridge/sessions/recorded-cancels.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import { callWithFakes } from '../../../support/call-with-fakes.ts';

const accepted = (n: number) => ({
  messageId: `message-${n}`,
  agent: 'agent',
  cancel: 'enough',
  state: { type: 'accepted' as const, taskId: `task-${n}`, sessionId: `session-${n}` },
});

const openCancels = (...args: ConstructorParameters<typeof RecordedCancels>) => new RecordedCancels(...args);

let attempts: number;
let cancels: RecordedCancels;

beforeEach(() => {
  jest.useFakeTimers();
  attempts = 0;
  const unreachable = {
    connect: async () => {
      attempts += 1;
      throw new ProductError('AGENT_UNREACHABLE', 'The agent is down.');
    },
  };
  const parts = {
    outbox: { cancels: () => [1, 2, 3, 4, 5].map(accepted) },
    registry: { find: () => unreachable },
    live: { find: () => undefined },
    log: createLogger({ level: 'silent', name: 'test' }),
    channel: 'mcp' as const,
  };
  cancels = callWithFakes(openCancels, parts);
});
afterEach(() => {
  cancels.close();
  jest.useRealTimers();
});

test('cancels that fail together are sent again together, after one second and then after two', async () => {
  await cancels.send();
  expect(attempts).toBe(5);
  await jest.advanceTimersByTimeAsync(999);
  expect(attempts).toBe(5);
  await jest.advanceTimersByTimeAsync(1);
  expect(attempts).toBe(10);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(attempts).toBe(15);
});

test('a cancel that fails after the close is not sent again', async () => {
  const sent = cancels.send();
  cancels.close();
  await sent;
  await jest.advanceTimersByTimeAsync(120_000);
  expect(attempts).toBe(5);
});
