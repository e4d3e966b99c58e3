import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { obtainToken, TOKEN_PATTERN, tokenPath } from '../../../../shared/state/token-file.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

describe('the local token', () => {
  test('is created once, is readable by its owner only, and is then reused', async () => {
    const directory = await temporaryDirectory();
    const token = await obtainToken(directory);
    expect(token).toMatch(TOKEN_PATTERN);
    expect(token.length).toBeGreaterThanOrEqual(43);
    expect((await stat(tokenPath(directory))).mode & 0o777).toBe(0o600);
    expect(await obtainToken(directory)).toBe(token);
    expect(await readdir(directory)).toEqual(['token']);
  });

  test('a deleted file gets a new token', async () => {
    const directory = await temporaryDirectory();
    const token = await obtainToken(directory);
    await rm(tokenPath(directory));
    expect(await obtainToken(directory)).not.toBe(token);
  });

  test.each(['', 'short', 'has spaces in it and is long enough', 'line-one-is-long-enough\nline-two'])(
    'a file that holds %p is refused, not replaced',
    async (held) => {
      const directory = await temporaryDirectory();
      await writeFile(tokenPath(directory), held, { mode: 0o600 });
      await expect(obtainToken(directory)).rejects.toThrow(tokenPath(directory));
      expect(await readFile(tokenPath(directory), 'utf8')).toBe(held);
    },
  );

  test.each([0o644, 0o640, 0o602])(
    'X1 is refused with the next step if others may use it (mode %o)',
    async (mode) => {
      const directory = await temporaryDirectory();
      const token = await obtainToken(directory);
      await chmod(tokenPath(directory), mode);
      await expect(obtainToken(directory)).rejects.toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringMatching(/other users can .*delete it.*chmod 600/),
      });
      await chmod(tokenPath(directory), 0o600);
      expect(await obtainToken(directory)).toBe(token);
    },
  );

  test('reports the file’s name if the directory is not writable', async () => {
    const directory = join(await temporaryDirectory(), 'missing');
    await expect(obtainToken(directory)).rejects.toMatchObject({ reason: 'CONFIGURATION' });
  });

  test('is the same for processes that start together', async () => {
    const directory = await temporaryDirectory();
    const program = await racer(await temporaryDirectory());
    const starters = Array.from({ length: 6 }, () => {
      const starter = spawn(process.execPath, [program, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
      return { starter, said: text(starter.stdout), ready: once(starter.stdout, 'data') };
    });
    // No process continues before the last one is ready.
    for (const { ready } of starters) await ready;
    for (const { starter } of starters) starter.stdin.end('go\n');
    const got = await Promise.all(starters.map(async ({ said }) => (await said).replace('ready\n', '')));
    expect(new Set(got)).toEqual(new Set([await obtainToken(directory)]));
    expect(await readdir(directory)).toEqual(['token']);
  });
});

/** A program that reports that it is ready, waits for input, and then obtains the token. */
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
      resolveDir: fileURLToPath(new URL('../../../../shared/state/', import.meta.url)),
    },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
  });
  return outfile;
}
