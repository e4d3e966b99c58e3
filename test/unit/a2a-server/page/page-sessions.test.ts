import { expect, it, jest } from '@jest/globals';
import { pageSessions } from '../../../../a2a-server/page/page-sessions.ts';

it('X1 a sign-out ends the open streams, even if the file of the sessions cannot be written', async () => {
  const write = jest.fn(() => Promise.resolve());
  const sessions = await pageSessions({
    credentials: [{ principal: 'ada', token: 'token-of-ada' }],
    clock: { now: () => 0 },
    file: { read: () => Promise.resolve({ links: [], sessions: [] }), write },
  });
  const { code } = await sessions.makeLink('ada');
  const secrets = await sessions.signIn(code);
  const ended = jest.fn();
  sessions.find(secrets).onSignOut(ended);
  write.mockRejectedValueOnce(new Error('the disk is full'));
  await expect(sessions.signOut(secrets, true)).rejects.toThrow('the disk is full');
  expect(ended).toHaveBeenCalledTimes(1);
  expect(() => sessions.find(secrets)).toThrow('not signed in');
});
