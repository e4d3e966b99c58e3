import { beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contentStore, type ContentStore } from '../../../../a2a-server/checkpoints/content-store.ts';
import { hashOf } from '../../../../a2a-server/tools/workspace/text-file.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

let directory: string;
let store: ContentStore;

beforeEach(async () => {
  directory = join(await temporaryDirectory(), 'checkpoints');
  store = contentStore(directory);
});

const content = (text: string) => ({ bytes: Buffer.from(text), hash: hashOf(text) });
const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

describe('the content store', () => {
  it('gives back what it was given, by task and hash, and nothing to another task', async () => {
    const kept = content('hello');
    await store.keep('task-1', kept);
    expect(textOf(await store.read('task-1', kept.hash))).toBe('hello');
    expect(await store.read('task-2', kept.hash)).toBeUndefined();
    expect(await store.read('task-1', hashOf('other'))).toBeUndefined();
  });

  it('keeps a content once, and writes it anew where it is damaged', async () => {
    const kept = content('hello');
    await store.keep('task-1', kept);
    const path = join(directory, 'task-1', kept.hash);
    const { ino } = await stat(path);
    await store.keep('task-1', kept);
    expect((await stat(path)).ino).toBe(ino);
    await writeFile(path, 'hell');
    expect(await store.read('task-1', kept.hash)).toBeUndefined();
    await store.keep('task-1', kept);
    expect(textOf(await store.read('task-1', kept.hash))).toBe('hello');
    expect(await readdir(join(directory, 'task-1'))).toEqual([kept.hash]);
  });

  it('knows the tasks it has a place for, and forgets them whole', async () => {
    expect(await store.tasks()).toEqual([]);
    await store.prepare('a/b');
    await store.keep('..', content('x'));
    expect((await store.tasks()).toSorted()).toEqual(['..', 'a/b']);
    await writeFile(join(directory, '%'), 'not ours');
    await writeFile(join(directory, 'not.ours'), '');
    await store.forget('a/b');
    await store.forget('never there');
    expect(await store.tasks()).toEqual(['..']);
    expect(await readdir(directory)).toHaveLength(3);
  });

  it('that cannot write says so, and what to do', async () => {
    await mkdir(join(directory, '..'), { recursive: true });
    await writeFile(directory, 'a file');
    await expect(store.keep('task-1', content('x'))).rejects.toMatchObject({
      reason: 'STORAGE',
      message: expect.stringContaining('Free some space'),
    });
  });
});
