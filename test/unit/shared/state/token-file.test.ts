import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readOrCreateTokenFile, TOKEN_PATTERN, tokenPath } from '../../../../shared/state/token-file.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

describe('the local server’s token', () => {
  test('the token is created once, only its owner can read it, and later starts use it again', async () => {
    const directory = await temporaryDirectory();
    const token = await readOrCreateTokenFile(directory);
    expect(token).toMatch(TOKEN_PATTERN);
    expect(token.length).toBeGreaterThanOrEqual(43);
    expect((await stat(tokenPath(directory))).mode & 0o777).toBe(0o600);
    expect(await readOrCreateTokenFile(directory)).toBe(token);
    expect(await readdir(directory)).toEqual(['token']);
  });

  test('after its file is deleted, a new token is created', async () => {
    const directory = await temporaryDirectory();
    const token = await readOrCreateTokenFile(directory);
    await rm(tokenPath(directory));
    expect(await readOrCreateTokenFile(directory)).not.toBe(token);
  });

  test.each(['', 'short', 'has spaces in it and is long enough', 'line-one-is-long-enough\nline-two'])(
    'a token file that contains %p is refused, and not replaced',
    async (held) => {
      const directory = await temporaryDirectory();
      await writeFile(tokenPath(directory), held, { mode: 0o600 });
      await expect(readOrCreateTokenFile(directory)).rejects.toThrow(tokenPath(directory));
      expect(await readFile(tokenPath(directory), 'utf8')).toBe(held);
    },
  );

  test.each([0o644, 0o640, 0o602])(
    'X1 a token file that other users may access (mode %o) is refused with the next step',
    async (mode) => {
      const directory = await temporaryDirectory();
      const token = await readOrCreateTokenFile(directory);
      await chmod(tokenPath(directory), mode);
      await expect(readOrCreateTokenFile(directory)).rejects.toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringMatching(/other users can .*delete it.*chmod 600/),
      });
      await chmod(tokenPath(directory), 0o600);
      expect(await readOrCreateTokenFile(directory)).toBe(token);
    },
  );

  test('if the directory is not writable, the error names the token file', async () => {
    const directory = join(await temporaryDirectory(), 'missing');
    await expect(readOrCreateTokenFile(directory)).rejects.toMatchObject({ reason: 'CONFIGURATION' });
  });

  test('processes that start together get the same token', async () => {
    const directory = await temporaryDirectory();
    const program = await racer(await temporaryDirectory());
    const starters = Array.from({ length: 6 }, () => {
      const starter = spawn(process.execPath, [program, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
      return { starter, said: text(starter.stdout), ready: once(starter.stdout, 'data') };
    });
    // All processes must be ready before the first of them continues.
    for (const { ready } of starters) await ready;
    for (const { starter } of starters) starter.stdin.end('go\n');
    const got = await Promise.all(starters.map(async ({ said }) => (await said).replace('ready\n', '')));
    expect(new Set(got)).toEqual(new Set([await readOrCreateTokenFile(directory)]));
    expect(await readdir(directory)).toEqual(['token']);
  });
});

/** Starts a program that reports that it is ready, waits for input, and then reads or creates the token. */
async function racer(directory: string): Promise<string> {
  const outfile = join(directory, 'racer.mjs');
  await build({
    stdin: {
      contents: `import { readOrCreateTokenFile } from './token-file.ts';
process.stdout.write('ready\\n');
process.stdin.once('data', async () => {
  process.stdout.write(await readOrCreateTokenFile(process.argv[2]));
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
