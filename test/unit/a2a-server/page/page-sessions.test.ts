import { describe, expect, it, jest } from '@jest/globals';
import { oidcSchema } from '../../../../a2a-server/access/oidc-settings.ts';
import { createPageSessions, type PageSessions } from '../../../../a2a-server/page/page-sessions.ts';
import type { RecordStore } from '../../../../a2a-server/records/record-store.ts';
import { memoryRecords } from '../../../support/memory-records.ts';
import { NO_ISSUED_TOKENS } from '../../../support/no-issued-tokens.ts';
import { signal } from '../../../support/signal.ts';

const onFailure = (error: unknown): void => {
  throw error;
};
const open = (records: RecordStore): PageSessions =>
  createPageSessions({
    credentials: [{ principal: 'ada', token: 'token-of-ada' }],
    clock: { now: () => 0 },
    records,
    issued: NO_ISSUED_TOKENS,
    onFailure,
  });
const link = async (sessions: PageSessions): Promise<string> =>
  (await sessions.makeLink({ principal: 'ada' })).code;
const fails = () => Promise.reject(new Error('the disk is full'));

it('X1 a sign-out ends the streams of the session at every server that shares the records', async () => {
  const records = memoryRecords();
  const [one, other] = [open(records), open(records)];
  const [secrets, kept] = [await one.signIn(await link(one)), await one.signIn(await link(one))];
  const stays = jest.fn();
  (await other.find(kept)).onSignOut(stays);
  const { principal, onSignOut } = await other.find(secrets);
  expect(principal).toBe('ada');
  const ended = new Promise<void>((resolve) => onSignOut(resolve));
  await one.signOut(secrets, false);
  await ended;
  for (const sessions of [one, other, open(records)])
    await expect(sessions.find(secrets)).rejects.toThrow('not signed in');
  expect(stays).not.toHaveBeenCalled();
  expect((await other.find(kept)).principal).toBe('ada');
});

it('X1 a stream that opens while its session is signed out elsewhere ends', async () => {
  const records = memoryRecords();
  const [one, other] = [open(records), open(records)];
  const secrets = await one.signIn(await link(one));
  const { onSignOut } = await other.find(secrets);
  await one.signOut(secrets, false);
  await new Promise<void>((resolve) => onSignOut(resolve));
});

it('X1 a sign-out that cannot be stored is an error, but ends the session of this process', async () => {
  const records = memoryRecords();
  const sessions = open({
    ...records,
    remove: (kind, name) => (kind === 'page-sessions' ? fails() : records.remove(kind, name)),
  });
  const secrets = await sessions.signIn(await link(sessions));
  const ended = jest.fn();
  (await sessions.find(secrets)).onSignOut(ended);
  await expect(sessions.signOut(secrets, true)).rejects.toThrow('the disk is full');
  expect(ended).toHaveBeenCalledTimes(1);
  await expect(sessions.find(secrets)).rejects.toThrow('not signed in');
});

it('a sign-in that cannot be stored leaves the link unused', async () => {
  const records = memoryRecords();
  const replace = jest.fn<RecordStore['replace']>((...record) => records.replace(...record));
  const sessions = open({ ...records, replace });
  const code = await link(sessions);
  replace.mockImplementationOnce(fails);
  await expect(sessions.signIn(code)).rejects.toThrow('the disk is full');
  const secrets = await sessions.signIn(code);
  expect((await open(records).find(secrets)).principal).toBe('ada');
  await expect(sessions.signIn(code)).rejects.toThrow('used up');
});

it.each([
  ['replace', 'page-sessions'],
  ['remove', 'page-links'],
] as const)(
  'X1 signing out everywhere also ends a sign-in that waits for its %s of %s',
  async (operation, waitsFor) => {
    const records = memoryRecords();
    const here = open(records);
    const [secrets, code] = [await here.signIn(await link(here)), await link(here)];
    const [reached, signedOut] = [signal(), signal()];
    const slow = async (kind: string): Promise<void> => {
      if (kind !== waitsFor) return;
      reached.happen();
      await signedOut.happened;
    };
    const elsewhere = open({
      ...records,
      replace: async (...record) => {
        if (operation === 'replace') await slow(record[0]);
        await records.replace(...record);
      },
      remove: async (...name) => {
        if (operation === 'remove') await slow(name[0]);
        return records.remove(...name);
      },
    });
    const signingIn = elsewhere.signIn(code);
    await reached.happened;
    await here.signOut(secrets, true);
    signedOut.happen();
    await expect(signingIn).rejects.toThrow('used up');
    expect((await records.list('page-sessions')).size).toBe(0);
  },
);

it('two servers accept a link once', async () => {
  const records = memoryRecords();
  const [one, other] = [open(records), open(records)];
  const code = await link(one);
  const results = await Promise.allSettled([one.signIn(code), other.signIn(code)]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

it('a principal has at most 100 sessions, and expired records are removed', async () => {
  let now = 0;
  const records = memoryRecords();
  const sessions = createPageSessions({
    credentials: [{ principal: 'ada', token: 'token-of-ada' }],
    clock: { now: () => now },
    records,
    issued: NO_ISSUED_TOKENS,
    onFailure,
  });
  const first = await sessions.signIn(await link(sessions));
  now += 1;
  for (let count = 0; count < 100; count += 1) await sessions.signIn(await link(sessions));
  await expect(sessions.find(first)).rejects.toThrow('not signed in');
  expect((await records.list('page-sessions')).size).toBe(100);
  now += 48 * 60 * 60_000;
  await sessions.signIn(await link(sessions));
  expect((await records.list('page-sessions')).size).toBe(1);
});

it('a damaged record gives no access', async () => {
  const records = memoryRecords();
  const sessions = open(records);
  const secrets = await sessions.signIn(await link(sessions));
  const [name = ''] = (await records.list('page-sessions')).keys();
  await records.replace('page-sessions', name, '{"principal":"ada"');
  await expect(sessions.find(secrets)).rejects.toThrow('not signed in');
});

describe('a link that a token of a provider has made', () => {
  const settings = {
    issuer: 'https://login.example.com',
    audience: 'https://agents.example.com',
    tenant: 'acme',
    roles: [{ claim: 'groups', value: 'approvers', roles: ['approve'] }],
  };
  const ann = { principal: 'acme/ann', roles: ['approve'], groups: ['release'], expiresAt: 60_000 } as const;
  const serve = (records: RecordStore, changes?: object): PageSessions =>
    createPageSessions({
      credentials: [],
      clock: { now: () => 0 },
      records,
      issued: NO_ISSUED_TOKENS,
      provider: changes && oidcSchema.parse({ ...settings, ...changes }),
      onFailure,
    });

  it('gives a session with the rights and the end of the token', async () => {
    const records = memoryRecords();
    const { code } = await serve(records, {}).makeLink(ann);
    const secrets = await serve(records, {}).signIn(code);
    expect(secrets.expiresAt).toBe(60_000);
    expect(await serve(records, {}).find(secrets)).toMatchObject(ann);
  });

  it('X1 gives no access after a change of the provider’s settings', async () => {
    const records = memoryRecords();
    const before = serve(records, {});
    const [first, second] = [await before.makeLink(ann), await before.makeLink(ann)];
    const secrets = await before.signIn(first.code);
    for (const changes of [undefined, { roles: [{ ...settings.roles[0], value: 'admins' }] }]) {
      await expect(serve(records, changes).find(secrets)).rejects.toThrow('not signed in');
      await expect(serve(records, changes).signIn(second.code)).rejects.toThrow('used up');
    }
    await expect(serve(records).makeLink(ann)).rejects.toThrow('expired or was revoked');
  });
});
