import { beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createCheckpointingWorkspace,
  type RecordFileChanges,
} from '../../../../a2a-server/checkpoints/checkpointing-workspace.ts';
import type { RecordedFileChange } from '../../../../a2a-server/task/events.ts';
import { openWorkspace, type Workspace } from '../../../../a2a-server/tools/workspace/workspace.ts';
import {
  ABSENT_FILE_BASIS,
  contentHashOf,
  MAX_READ_BYTES,
} from '../../../../a2a-server/tools/workspace/text-file.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const { signal } = new AbortController();

let root: string;
let recorded: RecordedFileChange[];
/** The saved contents as text, by hash. */
let kept: Map<string, string>;
let record: RecordFileChanges;
let workspace: Workspace;

beforeEach(async () => {
  root = await temporaryDirectory();
  recorded = [];
  kept = new Map();
  record = async (files, contents) => {
    recorded.push(...files);
    for (const { hash, bytes } of contents) kept.set(hash, Buffer.from(bytes).toString());
  };
  workspace = createCheckpointingWorkspace(await openWorkspace(root), (files, contents) =>
    record(files, contents),
  );
});

const removing = (more: { recursive?: boolean } = {}) => ({
  recursive: false,
  basis: null,
  signal,
  onRemoved: () => undefined,
  ...more,
});

const state = (text: string, mode?: number) => ({
  type: 'content',
  hash: contentHashOf(text),
  bytes: text.length,
  ...(mode !== undefined && { mode }),
});

describe('a checkpointing workspace', () => {
  it('records a file’s state before and after a change, with its old content, before it changes the file', async () => {
    await writeFile(join(root, 'a'), 'one', { mode: 0o644 });
    const recording = record;
    record = async (files, contents) => {
      // The workspace must append the record before it changes the file.
      expect(await readFile(join(root, 'a'), 'utf8')).toBe('one');
      await recording(files, contents);
    };
    await workspace.replace('./a', { content: 'two', basis: contentHashOf('one'), signal });
    expect(recorded).toEqual([{ path: 'a', before: state('one', 0o644), after: state('two') }]);
    expect(kept).toEqual(new Map([[contentHashOf('one'), 'one']]));
    expect(await readFile(join(root, 'a'), 'utf8')).toBe('two');
  });

  it('a checkpointing workspace records a new file, a moved file, and the target file of a link', async () => {
    await writeFile(join(root, 'old'), 'x');
    await symlink('old', join(root, 'link'));
    await workspace.replace('deep/new', { content: 'n', basis: ABSENT_FILE_BASIS, signal });
    await workspace.replace('link', { content: 'y', basis: contentHashOf('x'), signal });
    await workspace.move('old', 'there/moved', { basis: null, signal });
    expect(recorded).toMatchObject([
      { path: 'deep/new', before: { type: 'absent' }, after: state('n') },
      { path: 'old', before: state('x'), after: state('y') },
      { path: 'old', before: state('y'), after: { type: 'absent' } },
      { path: 'there/moved', before: { type: 'absent' }, after: state('y') },
    ]);
  });

  it('a checkpointing workspace saves each file of a deleted directory, and reports the files that it cannot save', async () => {
    await mkdir(join(root, 'd', 'e'), { recursive: true });
    await writeFile(join(root, 'd', 'a'), 'A');
    await writeFile(join(root, 'd', 'e', 'b'), 'B');
    await symlink('a', join(root, 'd', 'l'));
    await workspace.remove('d', removing({ recursive: true }));
    expect(recorded).toMatchObject([
      { path: 'd/a', before: state('A'), after: { type: 'absent' } },
      { path: 'd/e/b', before: state('B'), after: { type: 'absent' } },
      { path: 'd/l', before: { type: 'not-saved', why: 'a link' }, after: { type: 'absent' } },
    ]);
    expect([...kept.values()]).toEqual(['A', 'B']);
    await expect(stat(join(root, 'd'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('a checkpointing workspace deletes no file that appeared after its list of files, even without a preview (D2)', async () => {
    await writeFile(join(root, 'a'), 'one');
    record = async () => writeFile(join(root, 'a'), 'somebody else');
    await expect(workspace.remove('a', removing())).rejects.toMatchObject({ reason: 'INPUT_CHANGED' });
    await expect(workspace.move('a', 'b', { basis: null, signal })).rejects.toMatchObject({
      reason: 'INPUT_CHANGED',
    });
    expect(await readFile(join(root, 'a'), 'utf8')).toBe('somebody else');
  });

  it('D2 if a change was made from other content, a checkpointing workspace does not record the change', async () => {
    await writeFile(join(root, 'a'), 'one');
    const stale = { content: 'two', basis: contentHashOf('before'), signal };
    await expect(workspace.replace('a', stale)).rejects.toMatchObject({ reason: 'INPUT_CHANGED' });
    await expect(workspace.remove('a', { ...removing(), basis: 'other' })).rejects.toMatchObject({
      reason: 'INPUT_CHANGED',
    });
    await expect(workspace.move('a', 'b', { basis: 'other', signal })).rejects.toMatchObject({
      reason: 'INPUT_CHANGED',
    });
    expect(recorded).toEqual([]);
  });

  it('if a checkpointing workspace cannot append the record, it changes no file', async () => {
    await writeFile(join(root, 'a'), 'one');
    record = () => Promise.reject(new Error('the task has ended'));
    const change = workspace.replace('a', { content: 'two', basis: contentHashOf('one'), signal });
    await expect(change).rejects.toThrow('the task has ended');
    await expect(workspace.remove('a', removing())).rejects.toThrow('has ended');
    expect(await readFile(join(root, 'a'), 'utf8')).toBe('one');
  });

  it('a checkpointing workspace reports each file that is too large to save', async () => {
    await writeFile(join(root, 'large'), '');
    await truncate(join(root, 'large'), MAX_READ_BYTES + 1);
    await workspace.move('large', 'there', { basis: null, signal });
    await workspace.remove('there', removing());
    const before = { type: 'not-saved', why: 'too large' };
    expect(recorded).toEqual([
      { path: 'large', before, after: { type: 'absent' } },
      { path: 'there', before, after: before },
      { path: 'there', before, after: { type: 'absent' } },
    ]);
    expect(kept).toEqual(new Map());
  });
});
