/** Tests how the probe restarts an agent, reads streams that stay open, and subscribes to tasks that have ended. */
import { expect, it } from '@jest/globals';
import {
  type A2aRpcCaller,
  type StreamedEvent,
  NoAnswerError,
  JsonRpcError,
} from '../../../../bridge/probe/json-rpc-client.ts';
import { PROBE_CHECKS } from '../../../../bridge/probe/checks.ts';
import { AgentUnderTest, readUntilRest } from '../../../../bridge/probe/agent-under-test.ts';

async function* none(): AsyncGenerator<StreamedEvent, void, undefined> {}

it('after a restart, no request is sent until the agent answers again', async () => {
  const log: string[] = [];
  const answers = ['socket hang up', 'connect ECONNREFUSED'];
  const client: A2aRpcCaller = {
    async call() {
      const problem = answers.shift();
      log.push(problem ?? 'answer');
      throw problem === undefined
        ? new JsonRpcError({ code: -32_001, message: 'no task' })
        : new NoAnswerError(problem);
    },
    stream: none,
  };
  const agent = new AgentUnderTest({
    client,
    text: '',
    restart: async () => void log.push('restart'),
    signal: new AbortController().signal,
  });
  await agent.restart?.();
  expect(log).toEqual(['restart', 'socket hang up', 'connect ECONNREFUSED', 'answer']);
});

it('a stream is read until the task waits, although the stream stays open', async () => {
  let left = false;
  async function* stream(): AsyncGenerator<StreamedEvent, void, undefined> {
    try {
      for (const state of ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED'])
        yield { id: undefined, data: { statusUpdate: { taskId: 't', status: { state } } }, text: state };
      await new Promise(() => undefined);
    } finally {
      left = true;
    }
  }
  expect((await readUntilRest(stream())).map(({ text }) => text)).toEqual([
    'TASK_STATE_WORKING',
    'TASK_STATE_INPUT_REQUIRED',
  ]);
  expect(left).toBe(true);
});

function stateEvent(state: string): StreamedEvent {
  const data = { statusUpdate: { taskId: 't', status: { state } } };
  return { id: undefined, data, text: JSON.stringify({ result: data }) };
}

it.each([
  [1, 'passed'],
  [Infinity, 'not supported'],
])(
  'if %s tasks end before the second reader subscribes, the check of two readers is "%s"',
  async (early, verdict) => {
    let refused = 0;
    async function* stream(method: string): AsyncGenerator<StreamedEvent, void, undefined> {
      if (method === 'SubscribeToTask' && refused < early) {
        refused += 1;
        throw new JsonRpcError({ code: -32_004, message: 'the task has ended' });
      }
      yield stateEvent('TASK_STATE_WORKING');
      yield stateEvent('TASK_STATE_COMPLETED');
    }
    const client: A2aRpcCaller = { call: () => Promise.reject(new NoAnswerError('not called')), stream };
    const agent = new AgentUnderTest({ client, text: '', signal: new AbortController().signal });
    const check = PROBE_CHECKS.find(({ scenario }) => scenario.startsWith('two readers'));
    expect(await check?.run(agent)).toMatchObject({ verdict });
  },
);
