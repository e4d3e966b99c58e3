import { beforeEach, describe, expect, it } from '@jest/globals';
import { applyPatch } from 'diff';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { multiEditTool } from '../../../../../a2a-server/tools/builtin/edit-file.ts';
import { toolInWorkspace, type ToolInWorkspace } from '../tool-in-workspace.ts';

let at: ToolInWorkspace;
const onDisk = () => readFile(join(at.root, 'a.ts'), 'utf8');
const BEFORE = 'one\ntwo\nthree\n';
const INPUT = {
  path: 'a.ts',
  edits: [
    { oldText: 'one', newText: '1' },
    { oldText: '1\ntwo', newText: '1\n2' },
  ],
};

beforeEach(async () => {
  at = await toolInWorkspace();
  await writeFile(join(at.root, 'a.ts'), BEFORE);
});

describe('the tool multi-edit', () => {
  it('multi-edit shows all edits as one diff, changes nothing before the run, and then makes the edits', async () => {
    const shown = await at.show(multiEditTool, INPUT);
    expect(shown.preview).toMatchObject({ type: 'diff', path: 'a.ts' });
    const diff = shown.preview.type === 'diff' ? shown.preview.diff : '';
    expect(applyPatch(BEFORE, diff)).toBe('1\n2\nthree\n');
    expect(await onDisk()).toBe(BEFORE);
    expect(await at.run(multiEditTool, INPUT, { basis: shown.basis })).toEqual({
      text: 'Made 2 edits to a.ts, in 2 places; it now has 10 bytes.',
      summary: 'edited a.ts (2 places)',
    });
    expect(await onDisk()).toBe('1\n2\nthree\n');
    expect(multiEditTool.title(INPUT)).toBe('Edit a.ts in 2 passages');
  });

  it('multi-edit makes no edit if one edit does not match, and names that edit', async () => {
    const input = { ...INPUT, edits: [...INPUT.edits, { oldText: 'four', newText: '4' }] };
    const refusal = /Cannot edit "a.ts": Edit 3 of 3: The file does not contain oldText.* No edit was made/;
    await expect(at.show(multiEditTool, input)).rejects.toThrow(refusal);
    await expect(at.run(multiEditTool, input)).rejects.toThrow(refusal);
    expect(await onDisk()).toBe(BEFORE);
  });

  it('D2 multi-edit makes no edit in a file that has changed since the preview', async () => {
    const { basis } = await at.show(multiEditTool, INPUT);
    await writeFile(join(at.root, 'a.ts'), `${BEFORE}four\n`);
    await expect(at.run(multiEditTool, INPUT, { basis })).rejects.toMatchObject({ reason: 'INPUT_CHANGED' });
    expect(await onDisk()).toBe(`${BEFORE}four\n`);
  });

  it('R10 multi-edit writes the content that a person has written instead of the edits', async () => {
    const edited = multiEditTool.withContent?.(INPUT, 'mine\n');
    expect((await at.show(multiEditTool, edited)).preview).toMatchObject({
      diff: expect.stringContaining('+mine'),
    });
    expect(await at.showAndRun(multiEditTool, edited)).toMatchObject({ summary: 'wrote a.ts (5 bytes)' });
    expect(await onDisk()).toBe('mine\n');
  });

  it('multi-edit needs either edits or content, and an existing file', async () => {
    const malformed = { reason: 'MALFORMED' };
    await expect(at.show(multiEditTool, { path: 'a.ts' })).rejects.toMatchObject(malformed);
    await expect(at.show(multiEditTool, { ...INPUT, content: 'x' })).rejects.toMatchObject(malformed);
    await expect(at.show(multiEditTool, { ...INPUT, path: 'b.ts' })).rejects.toThrow(
      /There is no "b.ts" to edit/,
    );
  });
});
