/** Tests write-file, append-file, edit-file and read-file on real files. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { applyPatch } from 'diff';
import fc from 'fast-check';
import {
  mkdir,
  readdir,
  readFile as readText,
  stat,
  symlink,
  unlink,
  writeFile as writeText,
} from 'node:fs/promises';
import { join } from 'node:path';
import { appendFileTool, writeFileTool } from '../../../../a2a-server/tools/builtin/write-file.ts';
import { editFileTool } from '../../../../a2a-server/tools/builtin/edit-file.ts';
import { MAX_WRITE_BYTES } from '../../../../a2a-server/tools/builtin/text-edit.ts';
import { readFileTool } from '../../../../a2a-server/tools/builtin/read-file.ts';
import type { PreviewWithBasis } from '../../../../a2a-server/tools/tool.ts';
import { contentHashOf } from '../../../../a2a-server/tools/workspace/text-file.ts';
import { toolInWorkspace, type ToolInWorkspace } from './tool-in-workspace.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

let at: ToolInWorkspace;
const path = (name: string) => join(at.root, name);
const onDisk = (name: string) => readText(path(name), 'utf8');
const diffOf = ({ preview }: PreviewWithBasis) => (preview.type === 'diff' ? preview.diff : '');
const read = (input: unknown) => at.run(readFileTool, input);
const changed = expect.objectContaining({ reason: 'INPUT_CHANGED' });

beforeEach(async () => {
  at = await toolInWorkspace();
});

describe('the tool write-file', () => {
  it('write-file shows a new file as a diff, changes nothing before the run, and then creates the file', async () => {
    const input = { path: 'dir/test.md', content: 'hello' };
    expect(writeFileTool.title(input)).toBe('Write dir/test.md');
    const shown = await at.show(writeFileTool, input);
    expect(shown).toEqual({
      preview: {
        type: 'diff',
        path: 'dir/test.md',
        diff: '--- /dev/null\n+++ b/dir/test.md\n@@ -0,0 +1,1 @@\n+hello\n\\ No newline at end of file\n',
      },
      basis: 'absent',
    });
    expect(await readdir(at.root)).toEqual([]);
    expect(await at.run(writeFileTool, input, { basis: shown.basis })).toEqual({
      text: 'Created dir/test.md (5 bytes).',
      summary: 'wrote dir/test.md (5 bytes)',
    });
    expect(await onDisk('dir/test.md')).toBe('hello');
  });

  it('write-file shows the target file of a link', async () => {
    await writeText(path('real.txt'), 'a\n');
    await symlink('real.txt', path('link.txt'));
    const shown = await at.show(writeFileTool, { path: 'link.txt', content: 'b\n' });
    expect(shown.preview).toMatchObject({ path: 'real.txt' });
    expect(diffOf(shown)).toContain('+++ b/real.txt');
  });

  it('D2 write-file replaces only the content that was shown, and writes nothing if the file was changed, deleted or created', async () => {
    await writeText(path('a'), 'shown');
    const { basis } = await at.show(writeFileTool, { path: 'a', content: 'new' });
    expect(basis).toBe(contentHashOf('shown'));
    await writeText(path('a'), 'since then');
    await expect(at.run(writeFileTool, { path: 'a', content: 'new' }, { basis })).rejects.toEqual(changed);
    expect(await onDisk('a')).toBe('since then');
    await unlink(path('a'));
    await expect(at.run(writeFileTool, { path: 'a', content: 'new' }, { basis })).rejects.toEqual(changed);
    const fresh = await at.show(writeFileTool, { path: 'b', content: 'new' });
    await writeText(path('b'), 'appeared');
    await expect(at.run(writeFileTool, { path: 'b', content: 'new' }, fresh)).rejects.toEqual(changed);
    expect(await onDisk('b')).toBe('appeared');
    expect(await readdir(at.root)).toEqual(['b']);
  });

  it('without a preview, write-file works on the current content', async () => {
    await writeText(path('a'), 'old');
    await at.run(writeFileTool, { path: 'a', content: 'new' });
    expect(await onDisk('a')).toBe('new');
  });

  it('of two writers with the same preview, write-file lets only one write', async () => {
    const { basis } = await at.show(writeFileTool, { path: 'a', content: '' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => at.run(writeFileTool, { path: 'a', content: `${n}` }, { basis })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await onDisk('a')).toBe(`${outcomes.findIndex(({ status }) => status === 'fulfilled')}`);
    expect(await readdir(at.root)).toEqual(['a']);
  });

  it('X3 write-file refuses text that UTF-8 cannot encode, and text that is too long', async () => {
    await expect(at.show(writeFileTool, { path: 'a', content: 'x\ud800' })).rejects.toMatchObject({
      reason: 'MALFORMED',
    });
    const large = 'x'.repeat(MAX_WRITE_BYTES + 1);
    await expect(at.show(writeFileTool, { path: 'a', content: large })).rejects.toMatchObject({
      reason: 'TOO_LARGE',
    });
    await expect(at.run(writeFileTool, { path: 'a', content: large })).rejects.toMatchObject({
      reason: 'TOO_LARGE',
    });
    await at.run(writeFileTool, { path: 'a', content: large.slice(1) });
    expect((await stat(path('a'))).size).toBe(MAX_WRITE_BYTES);
  });

  it('X2 write-file refuses a path outside the workspace, in the preview and in the run', async () => {
    const outside = expect.objectContaining({ reason: 'OUTSIDE_WORKSPACE' });
    for (const tool of [writeFileTool, appendFileTool]) {
      await expect(at.show(tool, { path: '../x', content: 'x' })).rejects.toEqual(outside);
      await expect(at.run(tool, { path: '../x', content: 'x' })).rejects.toEqual(outside);
    }
  });

  it('write-file uses the content that a person has written instead', () => {
    expect(writeFileTool.withContent?.({ path: 'a', content: 'x' }, 'y')).toEqual({
      path: 'a',
      content: 'y',
    });
  });
});

describe('the tool append-file', () => {
  it('append-file creates the file, then adds exactly the given text', async () => {
    expect(await at.showAndRun(appendFileTool, { path: 'log', content: 'one' })).toMatchObject({
      summary: 'appended 3 bytes to log',
    });
    await at.showAndRun(appendFileTool, { path: 'log', content: '\ntwo\n' });
    expect(await onDisk('log')).toBe('one\ntwo\n');
  });

  it('append-file ends the new lines in CRLF if each line of the file does, so that later edits match', async () => {
    await writeText(path('win.txt'), 'a\r\nb\r\n');
    expect(await at.showAndRun(appendFileTool, { path: 'win.txt', content: 'c\nd\n' })).toMatchObject({
      summary: 'appended 6 bytes to win.txt',
    });
    await at.showAndRun(editFileTool, { path: 'win.txt', oldText: 'a\nb', newText: 'A\nB' });
    expect(await onDisk('win.txt')).toBe('A\r\nB\r\nc\r\nd\r\n');
    await writeText(path('mixed.txt'), 'a\r\nb\n');
    await at.showAndRun(appendFileTool, { path: 'mixed.txt', content: 'c\n' });
    expect(await onDisk('mixed.txt')).toBe('a\r\nb\nc\n');
  });

  it('for every two texts, the diff applied to the file gives the two texts joined', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'ü', '🎉', '\n', '\r', '+', ' '), maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(text, text, async (before, added) => {
        fc.pre(added !== '');
        await writeText(path('file'), before);
        const input = { path: 'file', content: added };
        const shown = await at.show(appendFileTool, input);
        const isCrlf = before.includes('\r\n') && !/(?<!\r)\n/.test(before);
        const after = before + (isCrlf ? added.replaceAll(/\r?\n/g, '\r\n') : added);
        expect(applyPatch(before, diffOf(shown))).toBe(after);
        await at.run(appendFileTool, input, { basis: shown.basis });
        expect(await onDisk('file')).toBe(after);
      }),
      { numRuns: numberOfRuns(60) },
    );
  });

  it('D2 append-file adds nothing to a file that has changed since the preview', async () => {
    await writeText(path('a'), 'shown');
    const { basis } = await at.show(appendFileTool, { path: 'a', content: '!' });
    await writeText(path('a'), 'since then');
    await expect(at.run(appendFileTool, { path: 'a', content: '!' }, { basis })).rejects.toEqual(changed);
    expect(await onDisk('a')).toBe('since then');
  });
});

describe('the tool edit-file', () => {
  it('edit-file shows and makes one change', async () => {
    await writeText(path('a.ts'), 'const a = 1;\nconst b = 2;\n');
    const input = { path: 'a.ts', oldText: 'b = 2', newText: 'b = 3' };
    const shown = await at.show(editFileTool, input);
    expect(diffOf(shown)).toContain('-const b = 2;\n+const b = 3;\n');
    expect(await at.run(editFileTool, input, { basis: shown.basis })).toMatchObject({
      summary: 'edited a.ts (1 place)',
    });
    expect(await onDisk('a.ts')).toBe('const a = 1;\nconst b = 3;\n');
  });

  it('edit-file refuses an edit whose old text does not occur exactly once, with a sentence for the model', async () => {
    await writeText(path('a'), 'x x');
    const edit = (oldText: string, name = 'a') =>
      at.show(editFileTool, { path: name, oldText, newText: 'y' });
    await expect(edit('x')).rejects.toThrow('Cannot edit "a": oldText occurs more than once.');
    await expect(edit('z')).rejects.toThrow('Cannot edit "a": The file does not contain oldText.');
    await expect(edit('x', 'missing')).rejects.toThrow(
      'There is no "missing" to edit; create it with write-file.',
    );
    await at.showAndRun(editFileTool, { path: 'a', oldText: 'x', newText: 'y', replaceAll: true });
    expect(await onDisk('a')).toBe('y y');
  });

  it('for every text around a passage, the diff applied to the file gives the edited file', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r', ' '), maxLength: 20 });
    const bareLf = /(?<!\r)\n/u;
    await fc.assert(
      fc.asyncProperty(text, text, text, async (before, after, newText) => {
        const content = `${before}PASSAGE${after}`;
        await writeText(path('file'), content);
        const input = { path: 'file', oldText: 'PASSAGE', newText };
        const shown = await at.show(editFileTool, input);
        const usesOnlyCrlf = content.includes('\r\n') && !bareLf.test(content);
        const written =
          usesOnlyCrlf && bareLf.test(newText) ? newText.replaceAll(/\r?\n/gu, '\r\n') : newText;
        expect(applyPatch(content, diffOf(shown))).toBe(before + written + after);
        await at.run(editFileTool, input, { basis: shown.basis });
        expect(await onDisk('file')).toBe(before + written + after);
      }),
      { numRuns: numberOfRuns(60), examples: [['a\r\n', '\r\n', 'b\nc']] },
    );
  });

  it('D2 edit-file changes nothing in a file that has changed since the preview, even if the passage is still in the file', async () => {
    await writeText(path('a'), 'x and more');
    const input = { path: 'a', oldText: 'x', newText: 'y' };
    const { basis } = await at.show(editFileTool, input);
    await writeText(path('a'), 'x and other');
    await expect(at.run(editFileTool, input, { basis })).rejects.toEqual(changed);
    expect(await onDisk('a')).toBe('x and other');
  });

  it('R10 edit-file writes the whole new text that a person has written', async () => {
    await writeText(path('a'), 'x and more');
    const rewritten = editFileTool.withContent?.({ path: 'a', oldText: 'x', newText: 'y' }, 'mine\n');
    expect(rewritten).toEqual({ path: 'a', replaceAll: false, content: 'mine\n' });
    const { preview, basis } = await at.show(editFileTool, rewritten);
    expect(preview).toMatchObject({ diff: expect.stringContaining('-x and more') });
    expect(await at.run(editFileTool, rewritten, { basis })).toMatchObject({ summary: 'wrote a (5 bytes)' });
    expect(await onDisk('a')).toBe('mine\n');
    for (const input of [
      { path: 'a' },
      { path: 'a', oldText: 'x' },
      { path: 'a', oldText: 'x', newText: 'y', content: 'z' },
    ])
      await expect(at.show(editFileTool, input)).rejects.toThrow(/give oldText and newText, or only content/);
  });
});

describe('the tool read-file', () => {
  it('read-file returns the text exactly as it is', async () => {
    await writeText(path('a'), 'one\r\n\ntwo 🎉');
    expect(await read({ path: 'a' })).toEqual({ text: 'one\r\n\ntwo 🎉', summary: 'read a (3 lines of 3)' });
    await writeText(path('empty'), '');
    expect(await read({ path: 'empty' })).toMatchObject({ text: '[empty is empty.]' });
  });

  it('read-file returns the requested lines, and says how to continue', async () => {
    await writeText(path('a'), Array.from({ length: 10 }, (_, n) => `line ${n + 1}\n`).join(''));
    expect(await read({ path: 'a', offset: 3, limit: 2 })).toEqual({
      text: 'line 3\nline 4\n[Lines 3 to 4 of 10; go on with offset 5]',
      summary: 'read a (2 lines of 10)',
    });
    expect((await read({ path: 'a', offset: 10 })).text).toBe('line 10\n');
    await expect(read({ path: 'a', offset: 11 })).rejects.toThrow(
      '"a" has 10 lines; offset 11 is beyond its end.',
    );
  });

  it('for every page size, the joined pages of read-file equal the file', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('', 'a', 'long '.repeat(30)), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        async (lines, limit) => {
          const content = lines.join('\n');
          fc.pre(content !== '');
          await writeText(path('file'), content);
          let together = '';
          for (let offset: number | undefined = 1; offset !== undefined;) {
            const { text } = await read({ path: 'file', offset, limit });
            const note: RegExpExecArray | null = /\[Lines .* go on with offset (\d+)\]$/.exec(text);
            together += note === null ? text : text.slice(0, note.index);
            offset = note === null ? undefined : Number(note[1]);
          }
          expect(together).toBe(content);
        },
      ),
      { numRuns: numberOfRuns(50) },
    );
  });

  it('X3 read-file limits the returned text, also for long lines', async () => {
    await writeText(path('wide'), `${'x'.repeat(200_000)}\nshort\n`);
    const { text } = await read({ path: 'wide' });
    expect(text.length).toBeLessThan(51_000);
    expect(text).toContain('[Line 1 is cut: it has 200001 characters');
    expect((await read({ path: 'wide', offset: 2 })).text).toBe('short\n');
    await writeText(path('many'), 'y'.repeat(99).concat('\n').repeat(1500));
    expect((await read({ path: 'many' })).text).toContain('[Lines 1 to 500 of 1500; go on with offset 501]');
  });

  it('read-file explains why it cannot read a file', async () => {
    await mkdir(path('dir'));
    await expect(read({ path: 'missing' })).rejects.toThrow(/There is no "missing".*list-files/);
    await expect(read({ path: 'dir' })).rejects.toThrow(/"dir" is a directory/);
    expect(await at.show(readFileTool, { path: 'missing' })).toMatchObject({ basis: null });
    await expect(at.show(readFileTool, { path: '../x' })).rejects.toMatchObject({
      reason: 'OUTSIDE_WORKSPACE',
    });
  });
});
