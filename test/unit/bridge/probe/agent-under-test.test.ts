/** Tests how the probe restarts an agent, and reads streams that stay open. */
import { expect, it } from '@jest/globals';
import {
  type A2aRpcCaller,
  type StreamedEvent,
  NoAnswerError,
  JsonRpcError,
} from '../../../../bridge/probe/json-rpc-client.ts';
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
