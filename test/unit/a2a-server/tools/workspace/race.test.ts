/** X2 against somebody who swaps directories and links as fast as the disk allows, while the tools work. */
import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openWorkspace, type Workspace } from '../../../../../a2a-server/tools/workspace.ts';
import { ABSENT } from '../../../../../a2a-server/tools/workspace/text-file.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

/** `RACE_ROUNDS=100000 npm run jest -- race` tries harder. */
const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 1500);
/** A write waits for the disk, three times. */
const WRITES = Math.ceil(ROUNDS / 10);
const TIMEOUT = 60_000 + ROUNDS * 20;
const linux = process.platform === 'linux' ? describe : describe.skip;

/**
 * `sub` is now a directory, now a link to the same names outside. Where a tool has made a `sub` of its own in the moment
 * between, that goes first.
 */
const SWAPPER = `
const { renameSync, rmSync } = require('node:fs');
const putInPlace = (from) => {
  for (;;) {
    try { return renameSync(from, 'space/sub'); } catch {}
    try { rmSync('space/sub', { recursive: true }); } catch {}
  }
};
process.stdout.write('ready');
for (;;) {
  renameSync('space/sub', 'held'); putInPlace('link');
  renameSync('space/sub', 'link'); putInPlace('held');
}`;

const race = async (
  rounds: number,
  work: (workspace: Workspace) => Promise<string>,
): Promise<Map<string, number>> => {
  const around = await temporaryDirectory();
  await mkdir(join(around, 'space', 'sub'), { recursive: true });
  await mkdir(join(around, 'outside', 'dir'), { recursive: true });
  await writeFile(join(around, 'space', 'sub', 'file'), 'inside');
  await writeFile(join(around, 'outside', 'file'), 'outside');
  await writeFile(join(around, 'outside', 'dir', 'file'), 'outside');
  await symlink(join(around, 'outside'), join(around, 'link'));
  const workspace = await openWorkspace(join(around, 'space'));
  const swapper = spawn(process.execPath, ['-e', SWAPPER], {
    cwd: around,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const seen = new Map<string, number>();
  try {
    await once(swapper.stdout, 'data');
    for (let round = 0; round < rounds; round += 1) {
      const what = await work(workspace);
      seen.set(what, (seen.get(what) ?? 0) + 1);
    }
  } finally {
    const gone = once(swapper, 'exit');
    swapper.kill('SIGKILL');
    await gone;
  }
  expect((await readdir(join(around, 'outside'))).toSorted()).toEqual(['dir', 'file']);
  expect(await readdir(join(around, 'outside', 'dir'))).toEqual(['file']);
  expect(await readFile(join(around, 'outside', 'file'), 'utf8')).toBe('outside');
  return seen;
};

const reasonOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'reason' in error ? String(error.reason) : 'failed';

linux('X2 while a directory is swapped for a link to outside, again and again', () => {
  it(
    'what is outside is never read',
    async () => {
      const seen = await race(ROUNDS, (workspace) =>
        workspace.read('sub/file').then((file) => file?.content ?? 'missing', reasonOf),
      );
      expect(seen.get('outside')).toBeUndefined();
      // Both sides of the race were met, so that the test has tested something.
      expect(seen.get('inside')).toBeGreaterThan(0);
      expect(seen.get('OUTSIDE_WORKSPACE')).toBeGreaterThan(0);
    },
    TIMEOUT,
  );

  it(
    'nothing is ever written outside',
    async () => {
      let number = 0;
      const signal = new AbortController().signal;
      const seen = await race(WRITES, (workspace) => {
        number += 1;
        return workspace
          .replace(`sub/new-${number}/file`, { content: 'x', basis: ABSENT, signal })
          .then(() => 'written', reasonOf);
      });
      expect(seen.get('written')).toBeGreaterThan(0);
      expect(seen.get('OUTSIDE_WORKSPACE')).toBeGreaterThan(0);
    },
    TIMEOUT,
  );

  it(
    'nothing outside is ever deleted',
    async () => {
      const signal = new AbortController().signal;
      const seen = await race(WRITES, async (workspace) => {
        // What is there to delete is put there anew, inside, whichever way `sub` leads just then.
        await workspace
          .replace('sub/file', { content: 'inside', basis: ABSENT, signal })
          .catch(() => undefined);
        return workspace
          .remove('sub/file', { recursive: true, basis: null, signal, onRemoved: () => undefined })
          .then(() => 'deleted', reasonOf);
      });
      expect(seen.get('deleted')).toBeGreaterThan(0);
      expect(seen.get('OUTSIDE_WORKSPACE')).toBeGreaterThan(0);
    },
    TIMEOUT,
  );

  it(
    'a directory that is deleted with all it holds takes nothing outside along',
    async () => {
      const signal = new AbortController().signal;
      const seen = await race(WRITES, async (workspace) => {
        await workspace
          .replace('sub/dir/file', { content: 'inside', basis: ABSENT, signal })
          .catch(() => undefined);
        return workspace
          .remove('sub/dir', { recursive: true, basis: null, signal, onRemoved: () => undefined })
          .then(() => 'deleted', reasonOf);
      });
      expect(seen.get('deleted')).toBeGreaterThan(0);
    },
    TIMEOUT,
  );

  it(
    'nothing is ever moved to outside, nor from there',
    async () => {
      const signal = new AbortController().signal;
      const seen = await race(WRITES, async (workspace) => {
        const out = await workspace
          .move('sub/file', 'here', { basis: null, signal })
          .then(() => 'moved out', reasonOf);
        const content = (await workspace.read('here').catch(() => undefined))?.content;
        if (content === 'outside') return 'stolen';
        return workspace.move('here', 'sub/file', { basis: null, signal }).then(
          () => `${out}, moved in`,
          (error: unknown) => `${out}, ${reasonOf(error)}`,
        );
      });
      expect(seen.get('stolen')).toBeUndefined();
      const ends = [...seen.keys()].join('; ');
      expect(ends).toContain('moved out');
      expect(ends).toContain('moved in');
      expect(ends).toContain('OUTSIDE_WORKSPACE');
    },
    TIMEOUT,
  );

  it(
    'nothing outside is ever listed',
    async () => {
      const signal = new AbortController().signal;
      const seen = await race(Math.ceil(ROUNDS / 5), async (workspace) => {
        const names: string[] = [];
        await workspace
          .walk('.', { signal, includeIgnored: true }, async (directory) => {
            for (const { name } of directory.entries) names.push(name);
            const file = await directory.read('file').catch(() => undefined);
            if (file !== undefined) names.push(file.content);
            return 'go on';
          })
          .catch(() => undefined);
        return names.includes('outside') ? 'outside' : names.includes('inside') ? 'inside' : 'neither';
      });
      expect(seen.get('outside')).toBeUndefined();
      expect(seen.get('inside')).toBeGreaterThan(0);
    },
    TIMEOUT,
  );
});

linux('X2 while the workspace itself is swapped', () => {
  it('another directory in its place is never read', async () => {
    const around = await temporaryDirectory();
    await mkdir(join(around, 'space'));
    await mkdir(join(around, 'other'));
    await writeFile(join(around, 'space', 'file'), 'inside');
    await writeFile(join(around, 'other', 'file'), 'outside');
    const workspace = await openWorkspace(join(around, 'space'));
    for (let round = 0; round < 50; round += 1) {
      const reading = workspace.read('file').then(
        (file) => file?.content,
        () => 'refused',
      );
      await rename(join(around, 'space'), join(around, 'held'));
      await rename(join(around, 'other'), join(around, 'space'));
      expect(await reading).not.toBe('outside');
      await rename(join(around, 'space'), join(around, 'other'));
      await rename(join(around, 'held'), join(around, 'space'));
    }
  });
});
