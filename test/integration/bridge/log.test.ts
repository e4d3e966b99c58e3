/** What the bridge logs of its sessions. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { type BridgeProgram, builtBridge } from './support/bridge-program.ts';
import { RawClient } from './support/raw-client.ts';

let program: BridgeProgram;
const open: { close: () => Promise<unknown> }[] = [];

beforeAll(async () => {
  program = await builtBridge();
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});
afterAll(() => program.remove());

const line = z.looseObject({ time: z.number(), msg: z.string() });

test('each state of a session is one line, with its ids and what waits, and without its text', async () => {
  const agent = await FakeAgent.start({
    onMessage: (task) => task.work().ask(pendingWrite('one')),
    onDecisions: (task) => task.work().say('SECRET').complete(),
  });
  open.push({ close: () => agent.stop() });
  const stateDir = await mkdtemp(join(program.directory, 'state-'));
  const client = await RawClient.start(program, {
    stateDir,
    agentUrl: agent.url,
    args: ['--log-level', 'info'],
  });
  open.unshift({ close: () => client.kill() });
  const { structuredContent } = await client.call('delegate_task_to_assistant', { task: 'SECRET work' });
  const sessionId = structuredContent?.['sessionId'];
  await client.call('approve_or_deny_pending_action', {
    sessionId,
    callId: 'one',
    shown: 'hash-of-one',
    decision: 'approve',
  });
  const lines = client.stderr
    .trim()
    .split('\n')
    .map((each) => line.parse(JSON.parse(each)));
  const states = lines.filter(({ msg }) => msg === 'the state of a session');
  expect(states.at(-1)).toMatchObject({ sessionId, taskId: expect.any(String), state: 'completed' });
  expect(states).toContainEqual(expect.objectContaining({ state: 'input-required', callIds: ['one'] }));
  expect(client.stderr).not.toContain('SECRET');
});
