import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { obtainToken, TOKEN_PATTERN, tokenPath } from '../../../shared/token-file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('the local token', () => {
  test('is made once, for its owner’s eyes alone, and found ever after', async () => {
    const directory = await temporaryDirectory();
    const token = await obtainToken(directory);
    expect(token).toMatch(TOKEN_PATTERN);
    expect(token.length).toBeGreaterThanOrEqual(43);
    expect((await stat(tokenPath(directory))).mode & 0o777).toBe(0o600);
    expect(await obtainToken(directory)).toBe(token);
    expect(await readdir(directory)).toEqual(['token']);
  });

  test.each(['', 'short', 'has spaces in it and is long enough', 'line-one-is-long-enough\nline-two'])(
    'a file that holds %p is refused, not replaced',
    async (held) => {
      const directory = await temporaryDirectory();
      await writeFile(tokenPath(directory), held);
      await expect(obtainToken(directory)).rejects.toThrow(tokenPath(directory));
      expect(await readFile(tokenPath(directory), 'utf8')).toBe(held);
    },
  );

  test('a directory that cannot be written is an error that names the file', async () => {
    const directory = join(await temporaryDirectory(), 'missing');
    await expect(obtainToken(directory)).rejects.toMatchObject({ reason: 'CONFIGURATION' });
  });

  test('processes that start together all get the same token', async () => {
    const directory = await temporaryDirectory();
    const program = await racer(await temporaryDirectory());
    const starters = Array.from({ length: 6 }, () => {
      const starter = spawn(process.execPath, [program, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
      return { starter, said: text(starter.stdout), ready: once(starter.stdout, 'data') };
    });
    // None is told to go on before the last is ready.
    for (const { ready } of starters) await ready;
    for (const { starter } of starters) starter.stdin.end('go\n');
    const got = await Promise.all(starters.map(async ({ said }) => (await said).replace('ready\n', '')));
    expect(new Set(got)).toEqual(new Set([await obtainToken(directory)]));
    expect(await readdir(directory)).toEqual(['token']);
  });
});

/** A program that says it is ready, waits for a word, and then obtains the token. */
async function racer(directory: string): Promise<string> {
  const outfile = join(directory, 'racer.mjs');
  await build({
    stdin: {
      contents: `import { obtainToken } from './token-file.ts';
process.stdout.write('ready\\n');
process.stdin.once('data', async () => {
  process.stdout.write(await obtainToken(process.argv[2]));
  process.stdin.destroy();
});`,
      resolveDir: fileURLToPath(new URL('../../../shared/', import.meta.url)),
    },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
  });
  return outfile;
}
