import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkWorkspace, rootDirectories } from '../../../../bridge/agents/check-workspace.ts';

const noRoots = (): Promise<readonly string[]> => Promise.resolve([]);

describe('the workspace that a call names', () => {
  let top: string;
  let own: string;
  beforeAll(async () => {
    top = await realpath(await mkdtemp(join(tmpdir(), 'workspaces-')));
    own = join(top, 'own');
    for (const each of ['own/sub', 'owner', 'secret', 'listed/sub'])
      await mkdir(join(top, each), { recursive: true });
    await symlink(join(top, 'secret'), join(own, 'link'));
    await symlink(own, join(top, 'link-to-own'));
  });
  afterAll(() => rm(top, { recursive: true }));

  test.each([
    ['own', 'allowed', 'own'],
    ['own/', 'allowed', 'own'],
    ['own/sub', 'allowed', 'own/sub'],
    ['own/../own/sub', 'allowed', 'own/sub'],
    ['own/not-there/yet', 'allowed', 'own/not-there/yet'],
    ['link-to-own/sub', 'allowed', 'own/sub'],
    ['listed/sub', 'allowed', 'listed/sub'],
    ['own/link', 'outside', 'secret'],
    ['own/link/not-there', 'outside', 'secret/not-there'],
    ['own/../secret', 'outside', 'secret'],
    ['owner', 'outside', 'owner'],
    ['', 'outside', ''],
  ])('the check of the directory %j returns "%s"', async (given, type, path) => {
    const placed = await checkWorkspace(`${top}/${given}`, { own, listed: [join(top, 'listed')] }, noRoots);
    expect(placed).toEqual({ type, path: join(top, path).replace(/\/$/, '') });
  });

  test('X2 the file system’s root allows no directory below it, neither as the bridge’s own directory nor as a client root', async () => {
    const wanted = join(top, 'secret');
    expect(await checkWorkspace(wanted, { own: '/', listed: [] }, async () => ['/'])).toEqual({
      type: 'outside',
      path: wanted,
    });
  });

  test.each([
    ['sub', 'allowed'],
    ['../secret', 'outside'],
    ['~/.ssh', 'allowed'],
  ])('the relative path %j is resolved in the bridge’s own directory: %s', async (given, type) => {
    expect(await checkWorkspace(given, { own, listed: [] }, noRoots)).toEqual({
      type,
      path: join(own, given),
    });
  });

  test('the workspace may be in a client root, and the bridge requests the roots only if it needs them', async () => {
    let asked = 0;
    const roots = async (): Promise<readonly string[]> => {
      asked += 1;
      return rootDirectories([`file://${top}/secret`, 'https://example.com/x']);
    };
    const secret = join(top, 'secret');
    expect(await checkWorkspace(secret, { own, listed: [] }, roots)).toEqual({
      type: 'allowed',
      path: secret,
    });
    await checkWorkspace(own, { own, listed: [] }, roots);
    expect(asked).toBe(1);
  });
});
