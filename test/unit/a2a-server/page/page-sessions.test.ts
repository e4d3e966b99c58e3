import { expect, it, jest } from '@jest/globals';
import { pageSessions, type PageSessions } from '../../../../a2a-server/page/page-sessions.ts';
import {
  type PageAccess,
  pageAccessFile,
  type PageAccessFile,
} from '../../../../a2a-server/page/stored-page-access.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const open = (file: PageAccessFile): Promise<PageSessions> =>
  pageSessions({ credentials: [{ principal: 'ada', token: 'token-of-ada' }], clock: { now: () => 0 }, file });

it('X1 a sign-out holds, also after a restart, even if the file of the sessions cannot be written', async () => {
  const file = pageAccessFile(await temporaryDirectory());
  const write = jest.fn((access: PageAccess) => file.write(access));
  const sessions = await open({ ...file, write });
  const secrets = await sessions.signIn((await sessions.makeLink({ principal: 'ada' })).code);
  const ended = jest.fn();
  sessions.find(secrets).onSignOut(ended);
  expect((await open(file)).find(secrets).principal).toBe('ada');
  write.mockRejectedValueOnce(new Error('the disk is full'));
  await sessions.signOut(secrets, true);
  expect(ended).toHaveBeenCalledTimes(1);
  expect(() => sessions.find(secrets)).toThrow('not signed in');
  const restarted = await open(file);
  expect(() => restarted.find(secrets)).toThrow('not signed in');
});

it('X1 a sign-out that is not on disk is an error, but ends the session of this process', async () => {
  const file = pageAccessFile(await temporaryDirectory());
  const fails = jest.fn(() => Promise.reject(new Error('the disk is read-only')));
  const write = jest.fn((access: PageAccess) => file.write(access));
  const sessions = await open({ ...file, write, remove: fails });
  const secrets = await sessions.signIn((await sessions.makeLink({ principal: 'ada' })).code);
  write.mockImplementation(fails);
  await expect(sessions.signOut(secrets, false)).rejects.toThrow('the disk is read-only');
  expect(() => sessions.find(secrets)).toThrow('not signed in');
});

it('a sign-in that cannot be stored leaves the link unused', async () => {
  const file = pageAccessFile(await temporaryDirectory());
  const write = jest.fn((access: PageAccess) => file.write(access));
  const sessions = await open({ ...file, write });
  const { code } = await sessions.makeLink({ principal: 'ada' });
  write.mockRejectedValueOnce(new Error('the disk is full'));
  await expect(sessions.signIn(code)).rejects.toThrow('the disk is full');
  const secrets = await sessions.signIn(code);
  expect((await open(file)).find(secrets).principal).toBe('ada');
  await expect(sessions.signIn(code)).rejects.toThrow('used up');
});
