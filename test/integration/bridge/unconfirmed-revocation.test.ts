import { expect, test } from '@jest/globals';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { DELEGATE, onOwnBridge } from './support/bridge-stage.ts';
import { refusalOf, sessionOf } from './support/raw-client.ts';

test('R12 R100 a revocation that the agent does not confirm in time is an error of the call, and says that the trust may still be valid', async () => {
  const { agent, client } = await onOwnBridge(
    { onMessage: (task) => task.work().ask(pendingWrite('one')) },
    { args: ['--wait-seconds', '1'] },
  );
  const asked = await client.call(DELEGATE, { task: 'do it' });
  const sessionId = sessionOf(asked);
  const release = agent.hold();
  const revoked = await client.call('revoke_trust', { sessionId, all: true });
  expect(refusalOf(revoked)).toContain('has not confirmed yet that the trust is revoked');
  release();
});
