/** Tests X2 while another process swaps directories and links as fast as the disk allows. */
import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openWorkspace, type Workspace } from '../../../../../a2a-server/tools/workspace/workspace.ts';
import { ABSENT_FILE_BASIS } from '../../../../../a2a-server/tools/workspace/text-file.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';

const ROUNDS = numberOfRuns(1500);
/** Writing tests have fewer rounds, because each write waits for the disk three times. */
const WRITES = Math.ceil(ROUNDS / 10);
const TIMEOUT = 60_000 + ROUNDS * 20;
const linux = process.platform === 'linux' ? describe : describe.skip;

/**
 * Swaps `sub` between a directory and a link to the same names outside. If a tool has created its own `sub` in
 * between, removes that first.
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
const parent = process.ppid;
// It ends with the test, also if the test is killed.
while (process.ppid === parent) {
  renameSync('space/sub', 'held'); putInPlace('link');
  renameSync('space/sub', 'link'); putInPlace('held');
}`;

/**
 * Repeats `work` while the swapper runs: `rounds` times, and longer until each part of `outcomes` was in a result.
 * Without these outcomes, the race would not have been tested.
 * @returns all results
 */
const race = async (
  { rounds, outcomes }: { rounds: number; outcomes: readonly string[] },
  work: (workspace: Workspace) => Promise<string>,
): Promise<Set<string>> => {
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
  const seen = new Set<string>();
  const isSeen = (outcome: string): boolean => [...seen].some((result) => result.includes(outcome));
  try {
    await once(swapper.stdout, 'data');
    for (let round = 0; round < rounds || !outcomes.every(isSeen); round += 1)
      seen.add(await work(workspace));
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
    'the server never reads a file outside the workspace',
    async () => {
      const outcomes = ['inside', 'OUTSIDE_WORKSPACE'];
      const seen = await race({ rounds: ROUNDS, outcomes }, (workspace) =>
        workspace.read('sub/file').then((file) => file?.content ?? 'missing', reasonOf),
      );
      expect(seen).not.toContain('outside');
    },
    TIMEOUT,
  );

  it(
    'the server never writes a file outside the workspace',
    async () => {
      let number = 0;
      const signal = new AbortController().signal;
      await race({ rounds: WRITES, outcomes: ['written', 'OUTSIDE_WORKSPACE'] }, (workspace) => {
        number += 1;
        return workspace
          .replace(`sub/new-${number}/file`, { content: 'x', basis: ABSENT_FILE_BASIS, signal })
          .then(() => 'written', reasonOf);
      });
    },
    TIMEOUT,
  );

  it(
    'the server never deletes a file outside the workspace',
    async () => {
      const signal = new AbortController().signal;
      await race({ rounds: WRITES, outcomes: ['deleted', 'OUTSIDE_WORKSPACE'] }, async (workspace) => {
        // Creates the deleted file again inside the workspace, wherever `sub` points now.
        await workspace
          .replace('sub/file', { content: 'inside', basis: ABSENT_FILE_BASIS, signal })
          .catch(() => undefined);
        return workspace
          .remove('sub/file', { recursive: true, basis: null, signal, onRemoved: () => undefined })
          .then(() => 'deleted', reasonOf);
      });
    },
    TIMEOUT,
  );

  it(
    'a recursive deletion never deletes a file outside the workspace',
    async () => {
      const signal = new AbortController().signal;
      await race({ rounds: WRITES, outcomes: ['deleted'] }, async (workspace) => {
        await workspace
          .replace('sub/dir/file', { content: 'inside', basis: ABSENT_FILE_BASIS, signal })
          .catch(() => undefined);
        return workspace
          .remove('sub/dir', { recursive: true, basis: null, signal, onRemoved: () => undefined })
          .then(() => 'deleted', reasonOf);
      });
    },
    TIMEOUT,
  );

  it(
    'the server never moves a file from or to a place outside the workspace',
    async () => {
      const signal = new AbortController().signal;
      const outcomes = ['moved out', 'moved in', 'OUTSIDE_WORKSPACE'];
      const seen = await race({ rounds: WRITES, outcomes }, async (workspace) => {
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
      expect(seen).not.toContain('stolen');
    },
    TIMEOUT,
  );

  it(
    'the server never lists a directory outside the workspace',
    async () => {
      const signal = new AbortController().signal;
      const seen = await race({ rounds: Math.ceil(ROUNDS / 5), outcomes: ['inside'] }, async (workspace) => {
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
      expect(seen).not.toContain('outside');
    },
    TIMEOUT,
  );
});

linux('X2 while the workspace itself is swapped', () => {
  it('the server never reads another directory at the workspace’s path', async () => {
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
