import { beforeEach, describe, expect, it } from '@jest/globals';
import { constants } from 'node:fs';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDirectory, type Directory } from '../../../../../a2a-server/tools/workspace/directory.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const linux = process.platform === 'linux' ? describe : describe.skip;
const refused = expect.objectContaining({ reason: 'OUTSIDE_WORKSPACE' });

/** Reads the entry `file` of a directory. */
async function contentOf(directory: Directory): Promise<string> {
  const handle = await directory.file('file', constants.O_RDONLY);
  try {
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

let around: string;
const at = (...names: string[]) => join(around, ...names);

beforeEach(async () => {
  around = await temporaryDirectory();
  for (const name of ['inside', 'outside']) {
    await mkdir(at(name, 'child'), { recursive: true });
    await writeFile(at(name, 'file'), name);
    await writeFile(at(name, 'child', 'file'), `child of ${name}`);
  }
});

/** Replaces `inside` by another directory or by a link to it. */
const swaps = {
  directory: async () => {
    await rename(at('inside'), at('moved'));
    await rename(at('outside'), at('inside'));
  },
  link: async () => {
    await rename(at('inside'), at('moved'));
    await symlink(at('outside'), at('inside'));
  },
};

linux('X2 a directory that is held open', () => {
  it.each(Object.entries(swaps))('stays the same directory when a %s replaces it', async (_what, swap) => {
    const directory = await openDirectory(at('inside'), 'by-handle');
    await swap();
    expect(await contentOf(directory)).toBe('inside');
    const child = await directory.child('child');
    expect(await contentOf(child)).toBe('child of inside');
    await writeFile(directory.at('new'), 'new');
    expect(await readFile(at('moved', 'new'), 'utf8')).toBe('new');
    await child.close();
    await directory.close();
  });
});

describe('X2 a directory with a known path and identity', () => {
  it.each(Object.entries(swaps))('refuses access when a %s replaces it', async (_what, swap) => {
    const directory = await openDirectory(at('inside'), 'by-path');
    expect(await contentOf(directory)).toBe('inside');
    await swap();
    await expect(contentOf(directory)).rejects.toEqual(refused);
    await expect(directory.child('child')).rejects.toEqual(refused);
    await expect(directory.confirm()).rejects.toEqual(refused);
  });

  it('the check notices a link in a parent directory', async () => {
    const child = await openDirectory(at('inside', 'child'), 'by-path');
    await rename(at('inside'), at('moved'));
    await symlink(at('moved'), at('inside'));
    await expect(contentOf(child)).rejects.toEqual(refused);
  });
});

describe.each(['by-handle', 'by-path'] as const)('a directory handle (access: %s)', (access) => {
  (access === 'by-handle' ? linux : describe)('X2', () => {
    it('the handle follows no link to a file or a directory', async () => {
      const directory = await openDirectory(at('inside'), access);
      await symlink(at('outside'), at('inside', 'link'));
      await expect(directory.child('link')).rejects.toEqual(refused);
      await expect(directory.file('link', constants.O_RDONLY)).rejects.toEqual(refused);
      await directory.close();
    });
  });
});
