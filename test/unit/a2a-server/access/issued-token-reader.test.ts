import { afterEach, expect, it, jest } from '@jest/globals';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeToken, parseToken } from '../../../../a2a-server/access/issued-token.ts';
import {
  openIssuedTokenReader,
  type IssuedTokenReader,
} from '../../../../a2a-server/access/issued-token-reader.ts';
import { createTokenStore } from '../../../../a2a-server/access/token-store.ts';
import { createFileRecordStore } from '../../../../a2a-server/records/file-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const clock = new FakeClock();
const onFailure = jest.fn();
const opened: IssuedTokenReader[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
  onFailure.mockClear();
});

function open(stateDirectory: string): IssuedTokenReader {
  const issued = openIssuedTokenReader({
    records: createFileRecordStore(stateDirectory, onFailure),
    clock,
    onFailure,
  });
  opened.push(issued);
  return issued;
}

async function created(lifetimeMs: number | null = null) {
  const stateDirectory = await temporaryDirectory();
  const made = makeToken({ principal: 'ann', roles: ['delegate'], lifetimeMs: lifetimeMs }, clock.now());
  const store = createTokenStore(createFileRecordStore(stateDirectory, onFailure));
  await store.add(made.token);
  const directory = join(stateDirectory, 'tokens');
  return { ...made, store, directory, stateDirectory, issued: open(stateDirectory) };
}

it('X1 the file of a token is private and does not contain the secret', async () => {
  const { text, directory } = await created();
  const [name = ''] = await readdir(directory);
  const path = join(directory, name);
  expect(await readFile(path, 'utf8')).not.toContain(text.slice(-43));
  expect((await stat(path)).mode & 0o077).toBe(0);
  expect((await stat(directory)).mode & 0o077).toBe(0);
});

it('a token that the first version with roles has stored gives the same access', async () => {
  const stateDirectory = await temporaryDirectory();
  // Written by `a2a-server token create --name bob --role read --expires never`, commit b3cfec85.
  const stored = {
    id: 'd6a97740e952',
    principal: 'bob',
    roles: ['read'],
    digest: 'f04ba0ccff9982dcc597684b4f1955dfdeb42deb05263e2f8ffd4c7ff96f0a7b',
    createdAt: '2026-11-26T03:12:04.281Z',
    expiresAt: null,
    revokedAt: null,
  };
  await mkdir(join(stateDirectory, 'tokens'), { mode: 0o700 });
  await writeFile(
    join(stateDirectory, 'tokens', `${stored.id}.json`),
    `${JSON.stringify(stored, undefined, 2)}\n`,
  );
  const text = `a2a_${stored.id}_MCMmXRwn9hHrEwoyeNsYxEyMj8SVEEg9_wUYtuqUzfo`;
  expect(await open(stateDirectory).find(text)).toMatchObject({ principal: 'bob', roles: ['read'] });
});

it('X1 only the whole text of a token finds it', async () => {
  const { text, token, issued } = await created();
  expect(await issued.find(text)).toEqual(token);
  const other = makeToken({ principal: 'ann', roles: ['delegate'], lifetimeMs: null }, clock.now());
  const swapped = `a2a_${token.id}_${other.text.slice(-43)}`;
  for (const wrong of [swapped, other.text, text.slice(0, -1), `${text}a`, token.digest, token.id, ''])
    expect(await issued.find(wrong)).toBeUndefined();
});

it('R121 a token has the groups that it was made with, and an older token has none', async () => {
  const { store, token, issued } = await created();
  expect(await issued.active(token.id)).not.toHaveProperty('groups');
  const made = makeToken(
    { principal: 'ann', roles: ['approve'], groups: ['release'], lifetimeMs: null },
    clock.now(),
  );
  await store.add(made.token);
  expect(await issued.find(made.text)).toMatchObject({ groups: ['release'] });
});

it('X1 an id that is a path finds no file', async () => {
  const { issued, stateDirectory } = await created();
  await writeFile(join(stateDirectory, 'other.json'), '{}');
  for (const id of ['../other', '..', '']) expect(await issued.active(id)).toBeUndefined();
  expect(onFailure).not.toHaveBeenCalled();
});

it('a token expires at its time', async () => {
  const { text, issued } = await created(1_000);
  clock.advance(999);
  expect(await issued.find(text)).toBeDefined();
  clock.advance(1);
  expect(await issued.find(text)).toBeUndefined();
  expect(await issued.isRevoked(parseToken(text)?.id ?? '')).toBe(false);
});

it('a token that another process revokes opens nothing from then on, and its listeners are called', async () => {
  const { text, token, store, issued } = await created();
  const kept = makeToken({ principal: 'ann', roles: ['delegate'], lifetimeMs: null }, clock.now());
  await store.add(kept.token);
  const keptListener = jest.fn();
  issued.onRevoked(kept.token.id, keptListener);
  const removed = jest.fn();
  issued.onRevoked(token.id, removed)();
  const revoked = new Promise<void>((resolve) => issued.onRevoked(token.id, resolve));
  expect(await issued.isRevoked(token.id)).toBe(false);
  await store.revoke(token.id, clock.now());
  expect(await issued.find(text)).toBeUndefined();
  expect(await issued.isRevoked(token.id)).toBe(true);
  expect(await issued.isRevoked('0123456789ab')).toBe(true);
  await revoked;
  expect(removed).not.toHaveBeenCalled();
  expect(keptListener).not.toHaveBeenCalled();
  expect(await issued.find(kept.text)).toEqual(kept.token);
});

it('a second revocation keeps the time of the first one, and an unknown id is none', async () => {
  const { token, store } = await created();
  const first = await store.revoke(token.id, clock.now());
  clock.advance(5_000);
  expect(await store.revoke(token.id, clock.now())).toEqual(first);
  expect(await store.revoke('0123456789ab', clock.now())).toBeUndefined();
});

it('X1 a damaged file gives no access, and the failure is reported', async () => {
  const { text, token, store, directory, issued } = await created();
  await writeFile(join(directory, `${token.id}.json`), '{"id":');
  expect(await issued.find(text)).toBeUndefined();
  expect(onFailure).toHaveBeenCalledWith(expect.objectContaining({ reason: 'STORAGE' }));
  await expect(store.list()).rejects.toMatchObject({ reason: 'STORAGE' });
});
