/** Tests move-file and delete-file on real files. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deleteFileTool } from '../../../../a2a-server/tools/builtin/delete-file.ts';
import { moveFileTool } from '../../../../a2a-server/tools/builtin/move-file.ts';
import { ToolStoppedError } from '../../../../a2a-server/tools/tool.ts';
import { identifyBarredDirectory } from '../../../../a2a-server/tools/workspace/barred-directory.ts';
import { openWorkspace } from '../../../../a2a-server/tools/workspace/workspace.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { toolInWorkspace, type ToolInWorkspace } from './tool-in-workspace.ts';

let at: ToolInWorkspace;
const path = (name: string) => join(at.root, name);
const changed = { reason: 'INPUT_CHANGED' };
const outside = { reason: 'OUTSIDE_WORKSPACE' };

beforeEach(async () => {
  at = await toolInWorkspace();
  await writeFile(path('a'), 'content');
});

describe('the tool move-file', () => {
  it('move-file shows the target, changes nothing before the run, and then creates the directories and moves the file', async () => {
    await chmod(path('a'), 0o750);
    const input = { path: 'a', to: 'new/dir/b' };
    expect(moveFileTool.title(input)).toBe('Move a to new/dir/b');
    const shown = await at.show(moveFileTool, input);
    expect(shown.preview).toEqual({ type: 'json', value: { moves: 'a', to: 'new/dir/b', bytes: 7 } });
    expect(await readdir(at.root)).toEqual(['a']);
    expect(await at.run(moveFileTool, input, { basis: shown.basis })).toEqual({
      text: 'Moved a to new/dir/b.',
      summary: 'moved a to new/dir/b',
    });
    expect(await readdir(at.root)).toEqual(['new']);
    expect(await readFile(path('new/dir/b'), 'utf8')).toBe('content');
    expect((await stat(path('new/dir/b'))).mode & 0o777).toBe(0o750);
    expect((await stat(path('new/dir/b'))).nlink).toBe(1);
  });

  it('move-file moves a binary file', async () => {
    const bytes = Buffer.from([0, 255, 128]);
    await writeFile(path('image'), bytes);
    await at.showAndRun(moveFileTool, { path: 'image', to: 'b' });
    expect(await readFile(path('b'))).toEqual(bytes);
  });

  it('move-file overwrites nothing, and moves neither directories nor links', async () => {
    await writeFile(path('b'), 'other');
    await mkdir(path('dir'));
    await symlink('a', path('link'));
    for (const [from, to, why] of [
      ['a', 'b', /already a "b"/],
      ['a', 'a', /already a "a"/],
      ['a', 'dir', /"dir" is a directory; give the full new path, for example "dir\/a"/],
      ['dir', 'c', /"dir" is a directory/],
      ['link', 'c', /not a regular file/],
      ['none', 'c', /There is no "none"/],
      ['.', 'c', /does not end in the name/],
    ] as const) {
      await expect(at.show(moveFileTool, { path: from, to })).rejects.toThrow(why);
      await expect(at.run(moveFileTool, { path: from, to })).rejects.toThrow(why);
    }
    expect((await readdir(at.root)).toSorted()).toEqual(['a', 'b', 'dir', 'link']);
  });

  it('D2 move-file moves no file that has changed since the preview, and overwrites no new file', async () => {
    const input = { path: 'a', to: 'b' };
    const { basis } = await at.show(moveFileTool, input);
    await writeFile(path('a'), 'CONTENT');
    await expect(at.run(moveFileTool, input, { basis })).rejects.toMatchObject(changed);
    const again = await at.show(moveFileTool, input);
    expect(again.basis).not.toBe(basis);
    await writeFile(path('b'), 'came');
    await expect(at.run(moveFileTool, input, { basis: again.basis })).rejects.toThrow(/already a "b"/);
    expect([await readFile(path('a'), 'utf8'), await readFile(path('b'), 'utf8')]).toEqual([
      'CONTENT',
      'came',
    ]);
  });

  it('X2 move-file refuses a path outside the workspace, for the source and the target', async () => {
    const elsewhere = await temporaryDirectory();
    await writeFile(join(elsewhere, 'secret'), 'x');
    await symlink(elsewhere, path('out'));
    await symlink(join(elsewhere, 'made'), path('dangling'));
    for (const [from, to] of [
      ['a', '../b'],
      ['a', join(elsewhere, 'b')],
      ['a', 'out/b'],
      ['a', 'dangling'],
      ['out/secret', 'b'],
      [join(elsewhere, 'secret'), 'b'],
    ] as const)
      await expect(at.run(moveFileTool, { path: from, to })).rejects.toMatchObject(outside);
    expect(await readdir(elsewhere)).toEqual(['secret']);
    expect((await readdir(at.root)).toSorted()).toEqual(['a', 'dangling', 'out']);
  });
});

describe('the tool delete-file', () => {
  it('delete-file shows the files to delete, changes nothing before the run, and then deletes them', async () => {
    const shown = await at.show(deleteFileTool, { path: 'a' });
    expect(shown.preview).toEqual({ type: 'json', value: { count: 1, bytes: 7, deletes: ['a (7 bytes)'] } });
    expect(await readdir(at.root)).toEqual(['a']);
    expect(await at.run(deleteFileTool, { path: 'a' }, { basis: shown.basis })).toEqual({
      text: 'Deleted a.',
      summary: 'deleted a',
    });
    expect(await readdir(at.root)).toEqual([]);
  });

  it('delete-file deletes an empty directory, and a directory with all its listed content only with recursive', async () => {
    await mkdir(path('dir/sub'), { recursive: true });
    await writeFile(path('dir/sub/b'), 'bb');
    await symlink('../a', path('dir/link'));
    const full = /"dir" is a directory and not empty; set recursive/;
    await expect(at.show(deleteFileTool, { path: 'dir' })).rejects.toThrow(full);
    await expect(at.run(deleteFileTool, { path: 'dir' })).rejects.toThrow(full);
    const input = { path: 'dir/', recursive: true };
    const shown = await at.show(deleteFileTool, input);
    expect(shown.preview).toMatchObject({
      value: {
        deletes: ['dir/', 'dir/link (a link; its target stays)', 'dir/sub/', 'dir/sub/b (2 bytes)'],
      },
    });
    expect(await at.run(deleteFileTool, input, { basis: shown.basis })).toMatchObject({
      summary: 'deleted dir/ and the 3 it held',
    });
    await mkdir(path('empty'));
    await at.showAndRun(deleteFileTool, { path: 'empty' });
    expect(await readdir(at.root)).toEqual(['a']);
  });

  it('D5 delete-file lists all files that it deletes, in any number, with full names', async () => {
    const names = Array.from(
      { length: 300 },
      (_, index) => `${String(index).padStart(3, '0')}-${'n'.repeat(200)}`,
    );
    await mkdir(path('many'));
    for (const name of names) await writeFile(path(`many/${name}`), 'x');
    const { preview } = await at.show(deleteFileTool, { path: 'many', recursive: true });
    expect(preview).toEqual({
      type: 'json',
      value: {
        count: 301,
        bytes: 300,
        deletes: ['many/', ...names.map((name) => `many/${name} (1 byte)`)],
      },
    });
  });

  it('delete-file deletes a link, and not the link’s target', async () => {
    const elsewhere = await temporaryDirectory();
    await writeFile(join(elsewhere, 'kept'), 'x');
    await symlink(elsewhere, path('out'));
    await symlink('a', path('link'));
    await at.showAndRun(deleteFileTool, { path: 'link' });
    await at.showAndRun(deleteFileTool, { path: 'out', recursive: true });
    expect(await readdir(at.root)).toEqual(['a']);
    expect(await readdir(elsewhere)).toEqual(['kept']);
  });

  it('D2 delete-file deletes nothing if a file was changed, added or removed since the preview', async () => {
    await mkdir(path('dir'));
    await writeFile(path('dir/b'), 'b');
    await writeFile(path('dir/c'), 'c');
    const input = { path: 'dir', recursive: true };
    for (const change of [
      () => writeFile(path('dir/b'), 'B'),
      () => writeFile(path('dir/d'), 'd'),
      () => unlink(path('dir/c')),
      () => chmod(path('dir/b'), 0o600),
    ]) {
      const { basis } = await at.show(deleteFileTool, input);
      await change();
      await expect(at.run(deleteFileTool, input, { basis })).rejects.toMatchObject(changed);
    }
    expect((await readdir(path('dir'))).toSorted()).toEqual(['b', 'd']);
  });

  it('D2 delete-file does not delete files that appear or change during the deletion', async () => {
    await mkdir(path('dir'));
    for (const name of ['1', '2', '3']) await writeFile(path(`dir/${name}`), name);
    const { signal } = new AbortController();
    const during = (change: () => void) =>
      at.workspace.remove('dir', { recursive: true, basis: null, signal, onRemoved: change });
    await expect(during(() => writeFileSync(path('dir/2'), 'other'))).rejects.toMatchObject(changed);
    expect((await readdir(path('dir'))).toSorted()).toEqual(['2', '3']);
    await expect(during(() => writeFileSync(path('dir/4'), 'new'))).rejects.toMatchObject(changed);
    expect(await readdir(path('dir'))).toEqual(['4']);
  });

  it('X2 delete-file deletes neither the workspace directory nor any file outside', async () => {
    const elsewhere = await temporaryDirectory();
    await writeFile(join(elsewhere, 'kept'), 'x');
    await symlink(elsewhere, path('out'));
    for (const name of ['.', '', at.root, 'a/..', './'])
      await expect(at.run(deleteFileTool, { path: name, recursive: true })).rejects.toThrow();
    for (const name of ['../x', elsewhere, 'out/kept'])
      await expect(at.run(deleteFileTool, { path: name, recursive: true })).rejects.toMatchObject(outside);
    expect(await readdir(elsewhere)).toEqual(['kept']);
    expect(await readlink(path('out'))).toBe(elsewhere);
  });

  it.each(['by-handle', 'by-path'] as const)(
    'X2 delete-file never deletes the server’s own directory (access: %s)',
    async (access) => {
      await mkdir(path('home/state'), { recursive: true });
      await writeFile(path('home/state/token'), 'x');
      await writeFile(path('home/b'), 'b');
      const barred = [await identifyBarredDirectory(path('home/state'))];
      const workspace = await openWorkspace(at.root, { barred, access });
      const run = { workspace };
      for (const name of ['home', 'home/state', 'home/state/token'])
        await expect(at.run(deleteFileTool, { path: name, recursive: true }, run)).rejects.toMatchObject(
          outside,
        );
      await expect(at.run(moveFileTool, { path: 'home/state/token', to: 'b' }, run)).rejects.toMatchObject(
        outside,
      );
      await expect(at.run(moveFileTool, { path: 'a', to: 'home/state/b' }, run)).rejects.toMatchObject(
        outside,
      );
      await at.run(moveFileTool, { path: 'home/b', to: 'home/c' }, run);
      await at.run(deleteFileTool, { path: 'home/c' }, run);
      expect(await readdir(path('home'))).toEqual(['state']);
      expect(await readdir(path('home/state'))).toEqual(['token']);
    },
  );

  it('X3 delete-file refuses to delete more files than a person can review', async () => {
    let deep = 'deep';
    for (let depth = 0; depth < 70; depth += 1) deep += '/d';
    await mkdir(path(deep), { recursive: true });
    await expect(at.show(deleteFileTool, { path: 'deep', recursive: true })).rejects.toMatchObject({
      reason: 'TOO_LARGE',
    });
    expect(await lstat(path(deep))).toBeDefined();
  });

  it('if delete-file stops in the middle, it reports the deleted files', async () => {
    await mkdir(path('dir'));
    for (const name of ['1', '2', '3']) await writeFile(path(`dir/${name}`), name);
    const abort = new AbortController();
    const remove: ToolInWorkspace['workspace']['remove'] = (name, removal) =>
      at.workspace.remove(name, {
        ...removal,
        onRemoved: (item) => {
          removal.onRemoved(item);
          abort.abort();
        },
      });
    const stopped = await at
      .run(
        deleteFileTool,
        { path: 'dir', recursive: true },
        {
          signal: abort.signal,
          workspace: { ...at.workspace, remove },
        },
      )
      .catch((error: unknown) => error);
    expect(stopped).toBeInstanceOf(ToolStoppedError);
    expect(stopped).toMatchObject({ text: 'Already deleted: 1 item.', confirmed: true });
    expect(await readdir(path('dir'))).toEqual(['2', '3']);
  });
});
