/** Tests the help of the programs that `npm run` starts. */
import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { helpInSource } from '../../../scripts/help-in-source.mjs';

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(await readFile('package.json', 'utf8')));
const programs = Object.entries(scripts).flatMap(([name, command]) => {
  const [, path] = /scripts\/run\.mjs (\S+)/.exec(command) ?? [];
  return path === undefined ? [] : [[name, path] as const];
});

async function printed(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

describe('--help', () => {
  it.each(programs)('npm run %s has a help that names the command', async (name, path) => {
    const help = await helpInSource(path);
    if (help === undefined) expect(await readFile(path, 'utf8')).toContain("from 'commander';");
    else expect(help).toMatch(new RegExp(String.raw`npm run ${name}\b|node scripts/run\.mjs ${path}`));
  });

  it('a program prints its help, and does nothing else', async () => {
    const path = 'test/mutants/mutants.ts';
    expect(await printed('scripts/run.mjs', path, '--help')).toBe(await helpInSource(path));
    expect(await printed('scripts/build.mjs', '--help')).toMatch(/^Builds both programs.*--if-changed/s);
  });
});
