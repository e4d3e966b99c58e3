/** Tests list-files and search-files on real directories. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listFilesTool } from '../../../../a2a-server/tools/builtin/list-files.ts';
import { searchFilesTool } from '../../../../a2a-server/tools/builtin/search-files.ts';
import { longestTurnOf } from '../../../support/loop-turns.ts';
import { toolInWorkspace, type ToolInWorkspace } from './tool-in-workspace.ts';

let at: ToolInWorkspace;

const files = async (content: Record<string, string | Buffer>): Promise<void> => {
  for (const [name, text] of Object.entries(content)) {
    await mkdir(dirname(join(at.root, name)), { recursive: true });
    await writeFile(join(at.root, name), text);
  }
};
const list = async (input: unknown) => (await at.run(listFilesTool, input)).text;
const search = async (input: unknown) => (await at.run(searchFilesTool, input)).text;

beforeEach(async () => {
  at = await toolInWorkspace();
});

describe('the tool list-files', () => {
  it('list-files lists a directory in order, with the kind of each entry', async () => {
    await files({ 'b.txt': '', 'a/x': '', '.hidden': '', 'new\nline': '' });
    await symlink('b.txt', join(at.root, 'link'));
    expect(await list({})).toBe('.hidden\na/\nb.txt\nlink -> b.txt\nnew↵line');
    expect(await list({ path: 'a' })).toBe('x');
    await mkdir(join(at.root, 'empty'));
    expect(await list({ path: 'empty' })).toBe('[The directory is empty.]');
  });

  it('list-files lists subdirectories without ignored files, and follows no link', async () => {
    await files({ '.gitignore': 'out/\n', 'out/x': '', 'src/a/b.ts': '', 'c.md': '' });
    await symlink('src', join(at.root, 'link'));
    expect(await list({ recursive: true })).toBe('.gitignore\nc.md\nlink -> src\nsrc/\nsrc/a/\nsrc/a/b.ts');
  });

  it('X2 list-files does not show what is in a directory that a rule covers', async () => {
    await files({ 'a/secrets/key': '', 'a/secrets/deep/key': '', 'a/secrets.md': '', 'b.txt': '' });
    const { text } = await at.run(
      listFilesTool,
      { recursive: true },
      { mayRead: (path) => path !== 'a/secrets' },
    );
    expect(text).toBe(
      'a/\nb.txt\na/secrets/\na/secrets.md\n[A rule of the operator hides what is in a/secrets/]',
    );
  });

  it('X3 list-files shows a thousand names and says if there are more', async () => {
    await files(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`many/${n}`, ''])));
    for (const input of [{ path: 'many' }, { path: 'many', recursive: true }]) {
      const lines = (await list(input)).split('\n');
      expect(lines).toHaveLength(1001);
      expect(lines.at(-1)).toMatch(/There is more/);
    }
  });
});

describe('the tool search-files', () => {
  it('search-files finds lines by plain text, by regular expression, and without regard to case', async () => {
    await files({ 'a.txt': 'one\ntwo (2)\r\nTwo\n', 'b/c.txt': 'two\n' });
    expect(await search({ pattern: 'two' })).toBe('a.txt:2: two (2)\nb/c.txt:1: two');
    expect(await search({ pattern: '(2)' })).toBe('a.txt:2: two (2)');
    expect(await search({ pattern: 't.o$', regex: true, caseSensitive: false })).toBe(
      'a.txt:3: Two\nb/c.txt:1: two',
    );
    expect(await search({ pattern: 'TWO', caseSensitive: false, path: 'b' })).toBe('b/c.txt:1: two');
    expect(await search({ pattern: 'Two', path: 'a.txt' })).toBe('a.txt:3: Two');
    expect(await search({ pattern: 'three' })).toBe('[Nothing found.]');
    expect(await search({ pattern: 'one|two' })).toMatch(
      /^\[Nothing found\.\]\n\[.*exact text.* set regex\.\]$/,
    );
    expect(await search({ pattern: 'zero|nothing', regex: true })).toBe('[Nothing found.]');
  });

  it('search-files finds the start of the first line behind a byte order mark', async () => {
    await files({ 'a.cs': '\ufeffusing System;\n' });
    expect(await search({ pattern: '^using', regex: true })).toBe('a.cs:1: using System;');
  });

  it('X3 search-files finds lines in a file of a million empty lines', async () => {
    await files({ 'empty.txt': '\n'.repeat(1_000_000) });
    expect(await search({ pattern: '^$', regex: true, path: 'empty.txt' })).toMatch(/^empty\.txt:1: \n/);
  });

  it('search-files finds files by name at any depth, or by path from the start directory', async () => {
    await files({ 'a.ts': '', 'src/b.ts': '', 'src/deep/c.tsx': '', 'src/.d.ts': '', 'e.md': '' });
    expect(await search({ glob: '*.ts' })).toBe('a.ts\nsrc/.d.ts\nsrc/b.ts');
    expect(await search({ glob: 'src/**/*.{ts,tsx}' })).toBe('src/.d.ts\nsrc/b.ts\nsrc/deep/c.tsx');
    expect(await search({ glob: './src/**' })).toBe('src/.d.ts\nsrc/b.ts\nsrc/deep/c.tsx');
    expect(await search({ glob: 'deep/*', path: 'src' })).toBe('src/deep/c.tsx');
    expect(await search({ glob: '!*.ts' })).toBe('e.md\nsrc/deep/c.tsx');
    expect(await search({ glob: '**/b.ts', path: 'src' })).toBe('src/b.ts');
  });

  it('search-files finds lines in the files that match a glob', async () => {
    await files({ 'a.ts': 'x\n', 'a.md': 'x\n' });
    expect(await at.run(searchFilesTool, { pattern: 'x', glob: '*.md' })).toEqual({
      text: 'a.md:1: x',
      summary: 'found 1 match in 1 file',
    });
  });

  it('X2 search-files searches no file that a rule covers, and says so', async () => {
    await files({ '.env': 'key\n', 'a/.env': 'key\n', 'a/b.txt': 'key\n' });
    const note = '[A rule of the operator hides 2 files from the search.]';
    for (const [input, found] of [
      [{ pattern: 'key' }, 'a/b.txt:1: key'],
      [{ glob: '**' }, 'a/b.txt'],
    ] as const) {
      const { text } = await at.run(searchFilesTool, input, { mayRead: (path) => !path.endsWith('.env') });
      expect(text).toBe(`${found}\n${note}`);
    }
  });

  it('search-files applies the glob also to a file that it gets as its path', async () => {
    await files({ 'src/a.ts': 'x\n' });
    const path = 'src/a.ts';
    expect(await search({ pattern: 'x', path, glob: '*.ts' })).toBe('src/a.ts:1: x');
    for (const glob of ['a.*', 'src/**/*.ts']) expect(await search({ path, glob })).toBe('src/a.ts');
    expect(await search({ pattern: 'x', path, glob: '*.md' })).toBe('[Nothing found.]');
    expect(await search({ path, glob: '*.md' })).toBe('[Nothing found.]');
  });

  it('search-files obeys .gitignore (nested, negated, anchored, in parent directories), and never searches .git', async () => {
    await files({
      '.gitignore': '*.log\n/build\nnode_modules/\n',
      '.git/config': 'hit',
      'app.log': 'hit',
      'build/out': 'hit',
      'src/build/kept': 'hit',
      'node_modules/m/i.js': 'hit',
      'src/.gitignore': '!keep.log\nlocal\n',
      'src/keep.log': 'hit',
      'src/other.log': 'hit',
      'src/local': 'hit',
      'Build/kept': 'hit',
    });
    const kept = 'Build/kept:1: hit\nsrc/keep.log:1: hit\nsrc/build/kept:1: hit';
    expect(await search({ pattern: 'hit' })).toBe(kept);
    expect(await search({ pattern: 'hit', path: 'src' })).toBe('src/keep.log:1: hit\nsrc/build/kept:1: hit');
    // The tool searches an ignored directory if the call names the directory.
    expect(await search({ pattern: 'hit', path: 'node_modules/m' })).toBe('node_modules/m/i.js:1: hit');
    const all = await search({ pattern: 'hit', includeIgnored: true });
    expect(all.split('\n')).toHaveLength(8);
    expect(all).not.toContain('.git/');
  });

  it('X2 search-files follows no link outside the workspace, and skips files that are not text', async () => {
    await files({ 'a.txt': 'hit', binary: Buffer.from('hit\0'), latin1: Buffer.from('hit \xe9', 'latin1') });
    await symlink('/', join(at.root, 'slash'));
    expect(await search({ pattern: 'hit' })).toBe(
      'a.txt:1: hit\n[2 files not searched (binary, not UTF-8, too large or unreadable).]',
    );
    await expect(search({ pattern: 'hit', path: 'slash/etc' })).rejects.toMatchObject({
      reason: 'OUTSIDE_WORKSPACE',
    });
    await expect(search({ pattern: 'hit', path: '../' })).rejects.toMatchObject({
      reason: 'OUTSIDE_WORKSPACE',
    });
  });

  it('search-files stops at maxResults, and says if there are more', async () => {
    await files({ 'a.txt': 'x\n'.repeat(10), 'b.txt': 'x\n' });
    expect(await search({ pattern: 'x', maxResults: 2 })).toBe(
      'a.txt:1: x\na.txt:2: x\n[There is more; narrow the search.]',
    );
    expect(await search({ pattern: 'x', path: 'b.txt', maxResults: 1 })).toBe('b.txt:1: x');
    // If the search has found everything, the result has no such note.
    expect(await search({ pattern: 'x', maxResults: 11 })).not.toContain('There is more');
    expect(await search({ glob: '*', maxResults: 2 })).toBe('a.txt\nb.txt');
    expect(await search({ glob: '*', maxResults: 1 })).toBe('a.txt\n[There is more; narrow the search.]');
  });

  it('X3 search-files shows the part of a long line around the match, and limits the result', async () => {
    await files({ 'long.txt': `${'a'.repeat(5000)}needle${'b'.repeat(5000)}` });
    const found = await search({ pattern: 'needle' });
    expect(found).toMatch(/^long\.txt:1: …a+needleb+…$/);
    expect(found.length).toBeLessThan(350);
    await files(
      Object.fromEntries(
        Array.from({ length: 5 }, (_, n) => [`${n}.txt`, `${'z'.repeat(299)}\n`.repeat(200)]),
      ),
    );
    const many = await search({ pattern: 'z', maxResults: 1000 });
    expect(many.length).toBeLessThan(52_000);
    expect(many).toMatch(/There is more/);
  });

  it('search-files finds plain text anywhere in a line of two megabytes, e.g. of a minified file', async () => {
    await files({ 'minified.js': `${'x'.repeat(2_000_000)}needle` });
    expect(await search({ pattern: 'needle' })).toMatch(/^minified\.js:1: …x+needle$/u);
    expect(await search({ pattern: 'NEEDLE', caseSensitive: false })).toContain('minified.js:1:');
  });

  it('search-files explains why a pattern is invalid', async () => {
    await expect(at.show(searchFilesTool, { pattern: '(', regex: true })).rejects.toThrow(
      /not a JavaScript regular expression/,
    );
    await expect(search({ pattern: '[', regex: true })).rejects.toThrow(
      /not a JavaScript regular expression/,
    );
    await expect(search({})).rejects.toThrow(/give glob to find files by name, pattern to find lines/);
    await expect(search({ glob: '*', path: 'missing' })).rejects.toThrow(/There is no "missing"/);
  });

  it('X3 search-files stops a hostile pattern, glob or .gitignore line, and never blocks the process for long', async () => {
    const evil = `${'a'.repeat(100)}!`;
    await files({ 'a.txt': `${evil}\n`.repeat(1000), [`deep/${'a'.repeat(200)}`]: '' });
    const longestMs = await longestTurnOf(async () => {
      await expect(search({ pattern: '^(a+)+$', regex: true })).rejects.toThrow(/takes too long to match/);
      await expect(search({ glob: `${'*a'.repeat(30)}b` })).rejects.toThrow(/glob .* takes too long/);
      await files({ '.gitignore': `${'**/a/'.repeat(20)}b\n`, [`${'a/'.repeat(40)}x`]: '' });
      await expect(search({ glob: '*' })).rejects.toThrow(/\.gitignore file takes too long/);
    });
    // A search may block the event loop for 100 ms. The rest is a margin for a slow machine.
    expect(longestMs).toBeLessThan(1000);
  });

  it('A2 search-files stops between files after an abort', async () => {
    await files({ 'a.txt': 'x', 'b.txt': 'x' });
    const controller = new AbortController();
    controller.abort();
    await expect(
      at.run(searchFilesTool, { pattern: 'x' }, { signal: controller.signal }),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('the title of a search-files call contains the pattern', () => {
    expect(searchFilesTool.title({ pattern: 'a\nb' })).toBe('Search for "a↵b"');
    expect(searchFilesTool.title({ glob: '*.ts', path: 'src' })).toBe('Search for files in *.ts, src');
  });
});
