/** Tests what `model set` refuses before it starts the server program. The other cases are in test/e2e/cli/model.test.ts. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { setModelCommand } from '../../../../../bridge/cli/commands/set-model.ts';
import type { CommandRun } from '../../../../../bridge/cli/context/run-command.ts';
import type { SetModelOptions } from '../../../../../bridge/cli/models/requested-change.ts';
import { exitCodeOf } from '../../../../../bridge/cli/terminal/exit-codes.ts';
import { errorMessageOf } from '../../../../../shared/runtime/errors.ts';
import { fakeTerminal } from '../../../../support/fake-terminal.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const KEY = '0f9e8d7c6b5a49382716050403020100';
const TEXT = '{\n  "server": { "retention": "9d" }\n}\n';

let stateDir: string;

beforeEach(async () => {
  stateDir = await temporaryDirectory();
  await writeFile(join(stateDir, 'config.json'), TEXT);
});

/**
 * Runs a command that must be refused before the trial of the model. The trial would fail, because the path of the server
 * has no program.
 * @returns everything that the person sees, and the exit code
 */
async function refusal(id: string, options: SetModelOptions): Promise<{ said: string; code: number }> {
  const said: string[] = [];
  const run = z.custom<CommandRun<SetModelOptions>>().parse({
    options,
    settings: { stateDir, configFile: undefined, autoStart: false, agents: {} },
    places: { serverScript: join(stateDir, 'no-server.js') },
    terminal: fakeTerminal({ say: (text) => void said.push(text) }),
    env: { PATH: process.env['PATH'], ANTHROPIC_API_KEY: `K${KEY}` },
  });
  const before = await stat(stateDir);
  const error: unknown = await setModelCommand(run, id).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) throw new Error('the command was not refused');
  expect(await readFile(join(stateDir, 'config.json'), 'utf8')).toBe(TEXT);
  expect(await readdir(stateDir)).toEqual(['config.json']);
  // A temporary file would have changed the time of its directory.
  expect((await stat(stateDir)).mtimeMs).toBe(before.mtimeMs);
  return { said: [...said, errorMessageOf(error)].join('\n'), code: exitCodeOf(error) };
}

describe('the command model set', () => {
  it.each<[string, SetModelOptions, RegExp]>([
    ['a command that contains the key', { keyCommand: `echo ${KEY}` }, /would contain the key as plain text/],
    [
      'a shell line that contains the key',
      { keyCommand: `sh -c 'echo ${KEY}'` },
      /would contain the key as plain text/,
    ],
    ['the key instead of a command', { keyCommand: KEY }, /key command was not found/],
    ['a command that fails', { keyCommand: `cat /no/such/${KEY}` }, /exit code 1/],
    ['a command that prints no key', { keyCommand: `echo no ${KEY}` }, /printed no key/],
    ['the value of a variable instead of its name', { keyVariable: `K${KEY}` }, /name of a var/],
    ['a key with dashes instead of a variable', { keyVariable: `sk-${KEY}` }, /name of a var/],
  ])('model set refuses %s before it writes any file, also with --no-try', async (_, options, says) => {
    for (const more of [{ try: false }, {}]) {
      const { said, code } = await refusal('anthropic:claude-fake', { ...options, ...more });
      expect(said).toMatch(says);
      expect(said).not.toContain(KEY);
      expect(code).not.toBe(0);
    }
  });

  it.each<[string, string, SetModelOptions, RegExp]>([
    ['an unknown tier', 'offline', { tier: 'slow' }, /The tiers are: fast, smart/],
    ['a key command with a pipe', 'openai:m', { keyCommand: 'a | b' }, /sh -c/],
    ['a key command with a variable', 'openai:m', { keyCommand: 'cat $FILE' }, /sh -c/],
    ['two sources of a key', 'openai:m', { keyCommand: 'a', keyVariable: 'B' }, /not both/],
  ])('model set refuses %s, and changes nothing', async (_, id, options, says) => {
    const { said, code } = await refusal(id, options);
    expect(said).toMatch(says);
    expect(code).toBe(2);
  });
});
