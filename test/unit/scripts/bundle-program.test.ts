import { beforeEach, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { bundleProgram } from '../../../scripts/bundle-program.mjs';
import { cleanUpLater } from '../../support/clean-up.ts';

const LONG_AGO = new Date('2020-01-01');
let program: string;

/** Writes a source that is older than each bundle. */
async function writeSource(name: string, code: string): Promise<void> {
  const path = join(program, '..', name);
  await writeFile(path, code);
  await utimes(path, LONG_AGO, LONG_AGO);
}

async function outputOf(bundle: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [bundle]);
  return stdout.trim();
}

beforeEach(async () => {
  const cache = join('node_modules', '.cache', 'mcp-a2a-bridge');
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, 'bundle-program-'));
  const bundles = ['programs', 'programs-with-packages'].map((kind) =>
    join(cache, kind, relative('.', directory)),
  );
  for (const each of [directory, ...bundles]) cleanUpLater(() => rm(each, { recursive: true, force: true }));
  program = join(directory, 'program.ts');
  await writeSource('program.ts', "import { word } from './word.ts'; console.log(word);");
  await writeSource('word.ts', "export const word: string = 'first';");
});

describe('bundleProgram, which bundles a TypeScript program', () => {
  test('an unchanged program is not bundled again', async () => {
    const bundle = await bundleProgram(program);
    expect(await outputOf(bundle)).toBe('first');
    const before = await stat(bundle);
    expect(await bundleProgram(program)).toBe(bundle);
    expect((await stat(bundle)).ino).toBe(before.ino);
  });

  test('a program is bundled again after a change of a module that it imports', async () => {
    await bundleProgram(program);
    await writeFile(join(program, '..', 'word.ts'), "export const word: string = 'second';");
    expect(await outputOf(await bundleProgram(program))).toBe('second');
  });

  test('a program is bundled again if an imported module is gone, and the error names it', async () => {
    await bundleProgram(program);
    await rm(join(program, '..', 'word.ts'));
    await expect(bundleProgram(program)).rejects.toThrow('word.ts');
  });

  test('several calls at the same time return one whole bundle', async () => {
    const bundles = await Promise.all([1, 2, 3].map(() => bundleProgram(program, { withPackages: true })));
    expect(new Set(bundles).size).toBe(1);
    expect(await outputOf(String(bundles[0]))).toBe('first');
  });
});
