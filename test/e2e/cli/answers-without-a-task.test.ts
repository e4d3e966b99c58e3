/** Tests `run` with an agent that answers with a message, as A2A allows. Such an agent keeps no task. */
import { expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { agentMessage } from '../../support/fake-agent-task.ts';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, type Outcome } from './support/cli.ts';

/** A time in milliseconds that is longer than a command waits for the id of a task. */
const LONG_MS = 5_500;

/** Runs a command against an agent that answers with a message. */
async function runAnswered(args: readonly string[], afterMs = 0): Promise<Outcome> {
  const executor: AgentExecutor = {
    async execute({ contextId }, bus) {
      await delay(afterMs);
      const data = agentMessage('It is noon.', { taskId: '', contextId, messageId: 'answer' });
      bus.publish({ kind: 'message', data });
      bus.finished();
    },
    cancelTask: () => Promise.resolve(),
  };
  const agent = await plainAgent('1.0', { executor });
  try {
    const home = await temporaryDirectory();
    return await cli(['run', 'What time is it?', ...args, '--agent-url', agent.url], { home });
  } finally {
    await agent.stop();
  }
}

it('run prints an answer without a task', async () => {
  expect(await runAnswered([])).toEqual({ code: 0, stdout: 'It is noon.\n', stderr: '' });
});

it('run --json prints an answer without a task, with null as the id of the task', async () => {
  const { code, stdout } = await runAnswered(['--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ taskId: null, state: 'completed', output: 'It is noon.' });
});

it('run waits for an agent that sends nothing before its answer', async () => {
  expect(await runAnswered([], LONG_MS)).toMatchObject({ code: 0, stdout: 'It is noon.\n' });
});
