import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { runServerCommand } from '../../../../../bridge/cli/context/server-program.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'server-command-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function program(source: string): Promise<string> {
  const script = join(directory, 'program.mjs');
  await writeFile(script, source);
  return script;
}

test('the output of a program is its JSON and the last line of its errors', async () => {
  const script = await program(
    'console.error("one\\ntwo"); console.log(JSON.stringify(process.argv.slice(2)));',
  );
  expect(await runServerCommand(script, ['models'], 60_000)).toEqual({ json: ['models'], said: 'two' });
});

test('a program that does not answer in time is killed, and the text says so', async () => {
  const script = await program('process.stdin.resume();');
  const { json, said } = await runServerCommand(script, [], 500);
  expect(json).toBeUndefined();
  expect(said).toBe(
    'The server program did not answer within 0.5 s. Try again when the machine is less busy.',
  );
});
