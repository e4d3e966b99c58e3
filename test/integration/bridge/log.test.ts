/** The log lines of the bridge about its sessions. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import {
  APPROVE_ONE,
  DECIDE,
  DELEGATE,
  closeAfterTest,
  program,
  startAgent,
  stateDirectory,
} from './support/bridge-stage.ts';
import { RawClient } from './support/raw-client.ts';

const line = z.looseObject({ time: z.number(), msg: z.string() });

test('each state of a session is one log line with the ids of session, task and pending calls, and without text of the task', async () => {
  const agent = await startAgent({
    onMessage: (task) => task.work().ask(pendingWrite('one')),
    onDecisions: (task) => task.work().say('SECRET').complete(),
  });
  const stateDir = await stateDirectory();
  const client = await RawClient.start(program, {
    stateDir,
    agentUrl: agent.url,
    args: ['--log-level', 'info'],
  });
  closeAfterTest(() => client.kill());
  const { structuredContent } = await client.call(DELEGATE, { task: 'SECRET work' });
  const sessionId = structuredContent?.['sessionId'];
  await client.call(DECIDE, { sessionId, ...APPROVE_ONE });
  const lines = client.stderr
    .trim()
    .split('\n')
    .map((each) => line.parse(JSON.parse(each)));
  const states = lines.filter(({ msg }) => msg === 'the state of a session');
  expect(states.at(-1)).toMatchObject({ sessionId, taskId: expect.any(String), state: 'completed' });
  expect(states).toContainEqual(expect.objectContaining({ state: 'input-required', callIds: ['one'] }));
  expect(client.stderr).not.toContain('SECRET');
});
