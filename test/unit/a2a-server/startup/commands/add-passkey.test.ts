import { expect, it } from '@jest/globals';
import { addPasskey } from '../../../../../a2a-server/startup/commands/add-passkey.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

it('passkey add for an unknown user says who can register a passkey', async () => {
  const stateDir = await temporaryDirectory();
  await expect(
    addPasskey(
      { stateDir, database: undefined, tokens: [], oidc: undefined },
      { principal: 'team/bob', atTerminal: true, say: () => undefined },
    ),
  ).rejects.toMatchObject({
    reason: 'CONFIGURATION',
    message: expect.stringContaining('a user with a valid token of `a2a-server token create`'),
  });
});
