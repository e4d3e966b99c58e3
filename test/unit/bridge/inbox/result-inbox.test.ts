import { expect, test } from '@jest/globals';
import { TaskState } from '@a2a-js/sdk';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ResultInbox } from '../../../../bridge/inbox/result-inbox.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import { AskingAgent } from '../../../support/asking-agent.ts';
import { callWithFakes } from '../../../support/call-with-fakes.ts';
import { Deferred } from '../../../../shared/runtime/deferred.ts';

const task = (taskId: string) => ({ agent: 'a', taskId, sessionId: `session of ${taskId}` });

const openInbox = (...args: ConstructorParameters<typeof ResultInbox>) => new ResultInbox(...args);

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
  const inbox = callWithFakes(openInbox, parts);
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

test.each<[string, object, readonly string[]]>([
  ['is queued', { state: TaskState.TASK_STATE_SUBMITTED }, []],
  ['works', { state: TaskState.TASK_STATE_WORKING }, []],
  ['has ended', { state: TaskState.TASK_STATE_COMPLETED }, ['put completed']],
  ['waits for input', { state: TaskState.TASK_STATE_INPUT_REQUIRED }, ['collect unknown']],
  ['waits for a sign-in', { state: TaskState.TASK_STATE_AUTH_REQUIRED }, ['collect unknown']],
  ['has an unknown state', { state: TaskState.TASK_STATE_UNSPECIFIED }, ['collect unknown']],
  ['has no id', { id: undefined }, ['collect unknown']],
])(
  'R68 the delegation of an earlier task of the session, which %s, stays open only while that task is queued or works',
  async (_, earlier, expected) => {
    const calls: string[] = [];
    const agent = new AskingAgent();
    Object.assign(agent.task, earlier);
    const parts = {
      results: { put: async (__: object, ended: string) => void calls.push(`put ${ended}`) },
      registry: { find: () => agent },
      outbox: {
        listUnfinishedTasks: () => [task('task-1')],
        collect: (__: object, ended: string) => void calls.push(`collect ${ended}`),
      },
      live: { all: [], find: () => undefined, onAdded: () => undefined },
      sessions: { find: async () => ({ view: { taskId: 'task-2' }, over: false }) },
      delegations: { takeOverOrphaned: async () => undefined },
      log: createLogger({ name: 'test', level: 'silent' }),
    };
    await callWithFakes(openInbox, parts).refresh();
    expect(calls).toEqual(expected);
  },
);

test('R68 if a task continues while its result is being stored, the result is not stored', async () => {
  const calls: string[] = [];
  const listeners: ((change: object) => void)[] = [];
  const settled = new Deferred<void>();
  const session = {
    agent: { name: 'a' },
    id: 's',
    view: { taskId: 'one', state: 'completed' },
    over: true,
    listen: (listener: (change: object) => void) => {
      listeners.push(listener);
    },
  };
  const ended = new Promise<void>((asked) => {
    const parts = {
      results: {
        put: async () => void calls.push('put'),
        reopen: async () => void calls.push('reopen'),
      },
      live: { onAdded: (added: (session: object) => void) => added(session) },
      delegations: {
        settled: () => {
          asked();
          return settled.promise;
        },
      },
    };
    Reflect.construct(ResultInbox, [parts]);
  });
  await ended;
  session.view = { taskId: 'one', state: 'working' };
  session.over = false;
  for (const listener of listeners) listener({ type: 'state' });
  settled.resolve();
  await nextTurn();
  expect(calls).toEqual(['reopen']);
});
