/** Tests that an approval counts only after a result has shown the whole action (D5). */
import { expect, test } from '@jest/globals';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { DECIDE, DELEGATE, startAgent, startClient, stateDirectory } from './support/bridge-stage.ts';
import { textOf, refusalOf } from './support/raw-client.ts';

/** Returns an action with a long preview. One such action fits into a result, but three do not. */
const long = (callId: string): ReturnType<typeof pendingWrite> =>
  pendingWrite(callId, {
    preview: { type: 'command', command: `echo ${'x'.repeat(20_000)}; echo HIDDEN`, cwd: '/w' },
  });

test('D5 the bridge refuses the first approval of a shortened preview and shows the full preview; the second approval counts', async () => {
  const pending = ['one', 'two', 'three'].map(long);
  const agent = await startAgent({
    onMessage: (task) => task.work().ask(...pending),
    onDecisions: (task) => task.work().say('done').complete(),
  });
  const stateDir = await stateDirectory();
  const first = await startClient(agent, { stateDir });
  const asked = await first.call(DELEGATE, { task: 'do it' });
  const { sessionId } = asked.structuredContent ?? {};
  expect(textOf(asked)).toContain('characters left out');
  // Another channel decides the other two actions. Then another bridge continues.
  const [task] = agent.tasks.values();
  task?.ask(...pending.slice(2));
  await first.kill();
  const client = await startClient(agent, { stateDir });
  const approval = { sessionId, callId: 'three', shown: 'hash-of-three', decision: 'approve' };
  const refused = await client.call(DECIDE, approval);
  expect(refusalOf(refused)).toMatch(/was cut when it was shown, so nothing was decided/);
  expect(textOf(refused)).toContain(`${'x'.repeat(20_000)}; echo HIDDEN`);
  expect(agent.decisions).toEqual([]);
  const done = await client.call(DECIDE, approval);
  expect(done.structuredContent).toMatchObject({ state: 'completed' });
});
