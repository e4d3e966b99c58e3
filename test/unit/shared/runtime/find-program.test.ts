import { expect, test } from '@jest/globals';
import { programExists, programPaths } from '../../../../shared/runtime/find-program.ts';

const linux = (env: Record<string, string>) => ({ env, platform: 'linux' as const });
const windows = (env: Record<string, string>) => ({ env, platform: 'win32' as const });

test('a program is searched in each directory of PATH, in order', () => {
  expect(programPaths('sh', linux({ PATH: '/opt/bin::/bin' }))).toEqual(['/opt/bin/sh', '/bin/sh']);
});

test('without PATH, a program is searched where the C library looks', async () => {
  expect(programPaths('sh', linux({}))).toEqual(['/usr/bin/sh', '/bin/sh']);
  expect(programPaths('sh', linux({ PATH: '' }))).toEqual([]);
  expect(await programExists('sh', linux({}))).toBe(true);
});

test('a path is not searched in PATH', () => {
  expect(programPaths('./sh', linux({ PATH: '/bin' }))).toEqual(['./sh']);
  expect(programPaths('C:\\tools\\sh', windows({ PATH: 'C:\\bin', PATHEXT: '.EXE' }))).toEqual([
    'C:\\tools\\sh.EXE',
  ]);
});

test('on Windows, a program has one of the endings of PATHEXT, and the case of a variable does not count', () => {
  const env = { Path: 'C:\\npm;D:\\bin', PathExt: '.EXE;.CMD' };
  expect(programPaths('claude', windows(env))).toEqual([
    'C:\\npm\\claude.EXE',
    'C:\\npm\\claude.CMD',
    'D:\\bin\\claude.EXE',
    'D:\\bin\\claude.CMD',
  ]);
  expect(programPaths('claude.cmd', windows(env))[0]).toBe('C:\\npm\\claude.cmd');
});

test('on Windows without PATHEXT, the usual endings count, and without PATH no program is found', () => {
  expect(programPaths('git', windows({ PATH: 'C:\\bin' }))).toEqual(
    ['.COM', '.EXE', '.BAT', '.CMD'].map((ending) => `C:\\bin\\git${ending}`),
  );
  expect(programPaths('git', windows({}))).toEqual([]);
});

test('a directory or a missing file is no program', async () => {
  expect(await programExists(process.execPath, process)).toBe(true);
  expect(await programExists('/', linux({}))).toBe(false);
  expect(await programExists('no-such-program', process)).toBe(false);
});
