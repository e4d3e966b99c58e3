import { beforeEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openWorkspace, type Workspace } from '../../../../../a2a-server/tools/workspace/workspace.ts';
import { ABSENT_FILE_BASIS, MAX_READ_BYTES } from '../../../../../a2a-server/tools/workspace/text-file.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const signal = new AbortController().signal;
const outside = expect.objectContaining({ reason: 'OUTSIDE_WORKSPACE' });

describe('openWorkspace, which opens a directory as a workspace', () => {
  it('openWorkspace refuses a path that is not a usable directory, and gives the reason', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'file'), '');
    const cases = [
      ['relative/path', /not an absolute path/],
      ['', /not an absolute path/],
      [join(directory, 'missing'), /does not exist/],
      [join(directory, 'file'), /not a directory/],
      [join(directory, 'file', 'below'), /has a file where a directory is needed/],
      ['/', /root of a file system/],
      ['/tmp/..', /root of a file system/],
      ['/tmp/\0', /character/],
      [`/${'x'.repeat(5000)}`, /cannot be opened \(ENAMETOOLONG\)/],
    ] as const;
    for (const [path, message] of cases) {
      await expect(openWorkspace(path)).rejects.toMatchObject({
        reason: 'UNKNOWN_WORKSPACE',
        message: expect.stringMatching(message),
      });
    }
  });

  it('openWorkspace uses the target directory of a link', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'real'));
    await symlink('real', join(directory, 'link'));
    expect((await openWorkspace(join(directory, 'link'))).root).toBe(join(directory, 'real'));
  });

  it('X2 the open workspace notices that another directory has replaced its own', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'space'));
    const workspace = await openWorkspace(join(directory, 'space'));
    await rename(join(directory, 'space'), join(directory, 'moved'));
    await expect(workspace.read('a')).rejects.toMatchObject({ reason: 'UNKNOWN_WORKSPACE' });
    await mkdir(join(directory, 'space'));
    await expect(workspace.read('a')).rejects.toMatchObject({ reason: 'UNKNOWN_WORKSPACE' });
    await rm(join(directory, 'space'), { recursive: true });
    await symlink('moved', join(directory, 'space'));
    await expect(workspace.read('a')).rejects.toMatchObject({ reason: 'UNKNOWN_WORKSPACE' });
  });
});

describe('a workspace file as bytes', () => {
  it('the bytes are the file’s content, for text and binary files, and the permissions are included', async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, 'a'), Buffer.from([0, 255]), { mode: 0o750 });
    const workspace = await openWorkspace(root);
    expect(await workspace.bytes('a')).toMatchObject({
      path: 'a',
      bytes: Buffer.from([0, 255]),
      mode: 0o750,
    });
    expect(await workspace.bytes('b')).toBeUndefined();
    await workspace.replace('b', {
      content: Buffer.from([1, 0]),
      basis: ABSENT_FILE_BASIS,
      mode: 0o640,
      signal,
    });
    expect(await workspace.bytes('b')).toMatchObject({ bytes: Buffer.from([1, 0]), mode: 0o640 });
  });
});

// Linux supports both ways to access a directory; macOS and Windows only the second.
describe.each(['by-handle', 'by-path'] as const)('the files of a workspace (access: %s)', (access) => {
  let around: string;
  let root: string;
  let workspace: Workspace;

  beforeEach(async () => {
    around = await temporaryDirectory();
    root = join(around, 'space');
    await mkdir(join(root, 'sub', 'deep'), { recursive: true });
    await writeFile(join(around, 'secret'), 'secret');
    await writeFile(join(root, 'a.txt'), 'a');
    workspace = await openWorkspace(root, { access });
  });

  const write = (path: string, content = 'new', basis = ABSENT_FILE_BASIS) =>
    workspace.replace(path, { content, basis, signal });

  it('a workspace reads, creates and replaces files, by relative and by absolute path', async () => {
    await write('sub/new.txt', 'one');
    const file = await workspace.read(join(root, 'sub', 'new.txt'));
    expect(file).toMatchObject({ path: 'sub/new.txt', content: 'one', bytes: 3 });
    await write('sub/deep/../new.txt', 'two', file?.hash);
    expect(await readFile(join(root, 'sub', 'new.txt'), 'utf8')).toBe('two');
    expect(await workspace.read('missing')).toBeUndefined();
    expect(await workspace.read('missing/below')).toBeUndefined();
    expect(await readdir(join(root, 'sub'))).toEqual(['deep', 'new.txt']);
  });

  it('a workspace creates the parent directories of a new file', async () => {
    await write('x/y/z.txt');
    expect(await readFile(join(root, 'x', 'y', 'z.txt'), 'utf8')).toBe('new');
  });

  it('X2 a path with `..` or an absolute path cannot lead outside the workspace', async () => {
    for (const path of [
      '..',
      '../secret',
      'sub/../../secret',
      'sub/deep/../../../secret',
      '/etc/passwd',
      join(around, 'secret'),
    ]) {
      await expect(workspace.read(path)).rejects.toEqual(outside);
      await expect(workspace.locate(path)).rejects.toEqual(outside);
      await expect(workspace.list(path)).rejects.toEqual(outside);
      await expect(write(path)).rejects.toEqual(outside);
    }
    expect(await readdir(around)).toEqual(['secret', 'space']);
  });

  it('X2 a link cannot lead outside the workspace: relative, absolute, chained or dangling, at any part of the path', async () => {
    await symlink('../secret', join(root, 'file-out'));
    await symlink(join(around, 'secret'), join(root, 'file-out-absolute'));
    await symlink('..', join(root, 'dir-out'));
    await symlink(around, join(root, 'dir-out-absolute'));
    await symlink('file-out', join(root, 'chained'));
    await symlink('../not-there', join(root, 'dangling'));
    await symlink('sub/../../not-there', join(root, 'dangling-around'));
    await symlink('/', join(root, 'slash'));
    const paths = [
      'file-out',
      'file-out-absolute',
      'dir-out/secret',
      'dir-out-absolute/secret',
      'chained',
      'dangling',
      'dangling-around',
      'dir-out/new',
      'slash/etc/passwd',
      'sub/../dir-out/secret',
    ];
    for (const path of paths) {
      await expect(workspace.read(path)).rejects.toEqual(outside);
      await expect(write(path)).rejects.toEqual(outside);
    }
    expect(await readdir(around)).toEqual(['secret', 'space']);
    expect(await readFile(join(around, 'secret'), 'utf8')).toBe('secret');
  });

  it('a workspace follows links to its own files, and creates the target of a dangling link', async () => {
    await symlink('../a.txt', join(root, 'sub', 'link'));
    await symlink(join(root, 'sub'), join(root, 'absolute'));
    await symlink('sub/deep/created', join(root, 'dangling'));
    expect(await workspace.read('sub/link')).toMatchObject({ path: 'a.txt', content: 'a' });
    expect(await workspace.read('absolute/link')).toMatchObject({ path: 'a.txt' });
    await write('dangling');
    expect(await readFile(join(root, 'sub', 'deep', 'created'), 'utf8')).toBe('new');
    // `..` is relative to the link's target, as in the kernel.
    await symlink('sub/deep', join(root, 'down'));
    expect(await workspace.locate('down/..')).toEqual({ path: 'sub', kind: 'directory' });
  });

  it('a workspace stops at an endless chain of links', async () => {
    await symlink('loop', join(root, 'loop'));
    await symlink('pong', join(root, 'ping'));
    await symlink('ping', join(root, 'pong'));
    await expect(workspace.read('loop')).rejects.toThrow(/endless chain/);
    await expect(workspace.read('ping/x')).rejects.toThrow(/endless chain/);
  });

  it('X2 a workspace replaces a hard link to a file outside, and does not write through it', async () => {
    await link(join(around, 'secret'), join(root, 'hard'));
    await write('hard', 'changed', (await workspace.read('hard'))?.hash);
    expect(await readFile(join(around, 'secret'), 'utf8')).toBe('secret');
    expect(await readFile(join(root, 'hard'), 'utf8')).toBe('changed');
  });

  it('a workspace accepts every valid file name, and explains an invalid one', async () => {
    const long = 'ü'.repeat(127) + 'x';
    for (const name of ['naïve 文件 🎉.txt', ' leading', 'new\nline', '-rf', '*?[', 'e\u0301', long]) {
      await write(name, name);
      expect(await workspace.read(name)).toMatchObject({ path: name, content: name });
    }
    await expect(write(`${long}x`)).rejects.toThrow(/too long/);
    await expect(workspace.read('a\0.txt')).rejects.toMatchObject({ reason: 'MALFORMED' });
  });

  it('a workspace distinguishes a directory from a file', async () => {
    for (const path of ['.', '', 'sub', 'sub/', root]) {
      await expect(workspace.read(path)).rejects.toThrow(/is a directory/);
      await expect(write(path)).rejects.toThrow(/is a directory/);
    }
    await expect(workspace.read('a.txt/b')).rejects.toThrow(/not a directory/);
    await expect(workspace.read('a.txt/')).rejects.toThrow(/is a file/);
    await expect(write('new/')).rejects.toThrow(/no directory "new\/"/);
    await expect(write('missing/../b')).rejects.toThrow(/no directory "missing"/);
    await expect(workspace.list('a.txt')).rejects.toThrow(/is a file/);
    await expect(workspace.list('missing')).rejects.toThrow(/no directory/);
  });

  it('a workspace does not block on a pipe, and does not open devices', async () => {
    await promisify(execFile)('mkfifo', [join(root, 'pipe')]);
    await expect(workspace.read('pipe')).rejects.toMatchObject({ reason: 'UNSUPPORTED_CONTENT' });
    await expect(write('pipe')).rejects.toMatchObject({ reason: 'UNSUPPORTED_CONTENT' });
  });

  it('a workspace reads only text, up to the size limit', async () => {
    await writeFile(join(root, 'binary'), Buffer.from([1, 0, 2]));
    await writeFile(join(root, 'latin1'), Buffer.from('caf\u00e9', 'latin1'));
    await writeFile(join(root, 'bom'), '\uFEFFx');
    await writeFile(join(root, 'full'), Buffer.alloc(MAX_READ_BYTES, 'x'));
    await writeFile(join(root, 'over'), Buffer.alloc(MAX_READ_BYTES + 1, 'x'));
    await expect(workspace.read('binary')).rejects.toThrow(/binary/);
    await expect(workspace.read('latin1')).rejects.toThrow(/not valid UTF-8/);
    await expect(workspace.read('over')).rejects.toMatchObject({ reason: 'TOO_LARGE' });
    expect((await workspace.read('full'))?.bytes).toBe(MAX_READ_BYTES);
    expect((await workspace.read('bom'))?.content).toBe('\uFEFFx');
  });

  it('D2 a workspace does not overwrite a file that was changed, created or deleted since the preview', async () => {
    const basis = (await workspace.read('a.txt'))?.hash ?? '';
    await writeFile(join(root, 'a.txt'), 'changed');
    const changed = expect.objectContaining({ reason: 'INPUT_CHANGED' });
    await expect(write('a.txt', 'new', basis)).rejects.toEqual(changed);
    await expect(write('a.txt', 'new', ABSENT_FILE_BASIS)).rejects.toEqual(changed);
    await expect(write('gone.txt', 'new', basis)).rejects.toEqual(changed);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('changed');
    expect(await readdir(root)).toEqual(['a.txt', 'sub']);
  });

  it('a replaced file keeps its permissions', async () => {
    await writeFile(join(root, 'script'), 'x', { mode: 0o750 });
    await write('script', 'y', (await workspace.read('script'))?.hash);
    expect((await stat(join(root, 'script'))).mode & 0o777).toBe(0o750);
  });

  it('an abort before the rename leaves the file unchanged', async () => {
    const controller = new AbortController();
    controller.abort();
    const replacing = workspace.replace('b.txt', {
      content: 'b',
      basis: ABSENT_FILE_BASIS,
      signal: controller.signal,
    });
    await expect(replacing).rejects.toMatchObject({ name: 'AbortError' });
    expect(await readdir(root)).toEqual(['a.txt', 'sub']);
  });
});
