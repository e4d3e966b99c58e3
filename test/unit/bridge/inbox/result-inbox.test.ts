import { expect, test } from '@jest/globals';
import { ResultInbox } from '../../../../bridge/inbox/result-inbox.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';

const task = (taskId: string): object => ({ agent: 'a', taskId, sessionId: `session of ${taskId}` });

/** Checks three tasks of one agent, and returns the tasks that the bridge asked about. The first one fails. */
async function checkedAfter(error: ProductError): Promise<readonly string[]> {
  const asked: string[] = [];
  const parts = {
    results: {},
    registry: { find: () => ({ name: 'a' }) },
    outbox: { listUnfinishedTasks: () => ['one', 'two', 'three'].map(task) },
    live: { all: [], find: () => undefined, onAdded: () => undefined },
    sessions: {
      find: async (handle: string) => {
        asked.push(handle);
        if (handle === 'one') throw error;
        return { view: undefined, over: false };
      },
    },
    delegations: { takeOverOrphaned: async () => undefined },
    log: createLogger({ name: 'test', level: 'silent' }),
  };
  const inbox: ResultInbox = Reflect.construct(ResultInbox, [parts]);
  await inbox.refresh();
  return asked;
}

test('R68 a task that cannot be read does not hide the results of the agent’s other tasks', async () => {
  const asked = await checkedAfter(new ProductError('AGENT_ERROR', 'The agent refused.'));
  expect(asked).toEqual(['one', 'two', 'three']);
});

test('R68 an unreachable agent gets only one request', async () => {
  expect(await checkedAfter(new ProductError('AGENT_UNREACHABLE', 'It is away.'))).toEqual(['one']);
});
