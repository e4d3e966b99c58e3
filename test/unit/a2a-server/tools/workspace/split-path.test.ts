import { describe, expect, it } from '@jest/globals';
import { splitPath } from '../../../../../a2a-server/tools/workspace/split-path.ts';

const parts = (path: string) => splitPath('/work/space', path, 'linux').parts;
const directory = (path: string) => splitPath('/work/space', path, 'linux').directory;
const windows = (path: string) => splitPath('C:\\Work\\Space', path, 'win32').parts;

describe('splitPath, which splits a path', () => {
  it('splitPath splits a path and drops empty parts', () => {
    expect(parts('a//./b/c')).toEqual(['a', 'b', 'c']);
    expect(parts('a/../b')).toEqual(['a', '..', 'b']);
    expect(parts('.')).toEqual([]);
    expect(parts('a\\b')).toEqual(['a\\b']);
    expect(parts('~/x')).toEqual(['~', 'x']);
  });

  it('splitPath recognizes a path that can only be a directory', () => {
    expect(['a/', '.', 'a/..', 'a/.', ''].map(directory)).toEqual([true, true, true, true, true]);
    expect(['a', '.a', 'a..'].map(directory)).toEqual([false, false, false]);
  });

  it('X2 splitPath accepts an absolute path only if it begins with the root', () => {
    expect(parts('/work/space')).toEqual([]);
    expect(parts('/work/space/a/b')).toEqual(['a', 'b']);
    for (const path of [
      '/',
      '/etc/passwd',
      '/work',
      '/work/spaceship',
      '/work/other/../space/a',
      '//work/space/a',
    ]) {
      expect(() => parts(path)).toThrow(expect.objectContaining({ reason: 'OUTSIDE_WORKSPACE' }));
    }
  });

  it('splitPath refuses an impossible path', () => {
    for (const path of ['a\0b', '\ud800', 'a/'.repeat(3000)]) {
      expect(() => parts(path)).toThrow(expect.objectContaining({ reason: 'MALFORMED' }));
    }
  });

  it('X2 splitPath splits a Windows path by the rules of Windows', () => {
    expect(windows('a\\b/c')).toEqual(['a', 'b', 'c']);
    expect(windows('c:/work/SPACE\\a')).toEqual(['a']);
    for (const path of [
      'C:\\Windows',
      '\\Windows',
      '\\\\server\\share',
      'D:\\Work\\Space',
      'C:\\Work\\Spaceship',
    ]) {
      expect(() => windows(path)).toThrow(expect.objectContaining({ reason: 'OUTSIDE_WORKSPACE' }));
    }
    for (const path of ['C:a', 'a.txt:stream', 'NUL', 'sub\\con.txt', 'COM1', 'dots.', 'space ', 'a*b']) {
      expect(() => windows(path)).toThrow(expect.objectContaining({ reason: 'MALFORMED' }));
    }
    for (const path of ['GIT~1\\hooks', 'ENV~1', 'CONFIG~2.JSO'])
      expect(() => windows(path)).toThrow(expect.objectContaining({ reason: 'MALFORMED' }));
    expect(windows('notes~1.backup\\a~')).toEqual(['notes~1.backup', 'a~']);
  });
});
