import { expect, test } from '@jest/globals';
import { createToken, revokeToken } from '../../../../../a2a-server/startup/commands/token-commands.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const output = { say: () => undefined, sayJson: () => undefined, note: () => undefined };
const valid = { name: 'ann', role: ['approve'], expires: '1d' };

test.each([
  ['--name', { ...valid, name: 'a b' }],
  ['--tenant', { ...valid, tenant: '' }],
  ['--group', { ...valid, group: ['a/b'] }],
  ['--role', { ...valid, role: ['boss'] }],
  ['--expires', { ...valid, expires: 'soon' }],
])('a wrong %s is a mistake in the command line, not in the settings', async (flag, given) => {
  const place = { stateDir: await temporaryDirectory(), database: undefined };
  await expect(createToken(place, given, output)).rejects.toMatchObject({
    reason: 'MALFORMED',
    message: expect.stringMatching(new RegExp(`^${flag} takes `)),
  });
});

test('the error for an unknown token names the command that lists tokens', async () => {
  const place = { stateDir: await temporaryDirectory(), database: undefined };
  await expect(revokeToken(place, 'nope', output)).rejects.toMatchObject({
    reason: 'MALFORMED',
    message: 'There is no token "nope". `a2a-server token list` lists them.',
  });
});
