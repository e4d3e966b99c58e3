import { expect, test } from '@jest/globals';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { DELEGATE, startAgent, startClient } from './support/bridge-stage.ts';
import { textOf } from './support/raw-client.ts';

test('R12 R100 a revocation that the agent does not confirm in time is an error of the call, and says that the trust may still be valid', async () => {
  const agent = await startAgent({ onMessage: (task) => task.work().ask(pendingWrite('one')) });
  const client = await startClient(agent, { args: ['--wait-seconds', '1'] });
  const asked = await client.call(DELEGATE, { task: 'do it' });
  const sessionId = asked.structuredContent?.['sessionId'];
  const release = agent.hold();
  const revoked = await client.call('revoke_trust', { sessionId, all: true });
  expect(revoked.isError).toBe(true);
  expect(textOf(revoked)).toContain('has not confirmed yet that the trust is revoked');
  release();
});
