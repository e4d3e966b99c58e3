/** An approval counts for what its result has shown, not for what a later result would show (D5). */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { type BridgeProgram, builtBridge } from './support/bridge-program.ts';
import { RawClient, textOf } from './support/raw-client.ts';

const DECIDE = 'approve_or_deny_pending_action';

/** Too long to be shown whole beside two others, and short enough to be shown whole alone. */
const long = (callId: string): ReturnType<typeof pendingWrite> =>
  pendingWrite(callId, {
    preview: { type: 'command', command: `echo ${'x'.repeat(20_000)}; echo HIDDEN`, cwd: '/w' },
  });

let program: BridgeProgram;
let client: RawClient;
let agent: FakeAgent;
beforeAll(async () => {
  program = await builtBridge();
});
afterEach(async () => {
  await client.kill();
  await agent.stop();
});
afterAll(() => program.remove());

test('D5 an action that was shown cut is not approved once there is room for it: it is shown whole first', async () => {
  const pending = ['one', 'two', 'three'].map(long);
  agent = await FakeAgent.start({
    onMessage: (task) => task.work().ask(...pending),
    onDecisions: (task) => task.work().say('done').complete(),
  });
  const start = { stateDir: await mkdtemp(join(program.directory, 'state-')), agentUrl: agent.url };
  client = await RawClient.start(program, start);
  const asked = await client.call('delegate_task_to_assistant', { task: 'do it' });
  const { sessionId } = asked.structuredContent ?? {};
  expect(textOf(asked)).toContain('characters left out');
  // Somebody decides the others elsewhere, and the bridge is another one by now.
  const [task] = agent.tasks.values();
  task?.ask(...pending.slice(2));
  await client.kill();
  client = await RawClient.start(program, start);
  const approval = { sessionId, callId: 'three', shown: 'hash-of-three', decision: 'approve' };
  const refused = await client.call(DECIDE, approval);
  expect(refused.isError).toBe(true);
  expect(textOf(refused)).toMatch(/was cut when it was shown, so nothing was decided/);
  expect(textOf(refused)).toContain(`${'x'.repeat(20_000)}; echo HIDDEN`);
  expect(agent.decisions).toEqual([]);
  const done = await client.call(DECIDE, approval);
  expect(done.structuredContent).toMatchObject({ state: 'completed' });
});
