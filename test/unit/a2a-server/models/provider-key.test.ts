import { describe, expect, test } from '@jest/globals';
import {
  providerKeySettingSchema,
  createProviderKeyReader,
} from '../../../../a2a-server/models/provider-key.ts';

const NEEDS = { provider: 'anthropic', model: 'claude-fake', variables: ['ANTHROPIC_API_KEY'], needed: true };
const KEY = 'sk-very-secret-0123456789';
/** Returns a command line that runs this JavaScript. */
const script = (text: string): string[] => [process.execPath, '-e', text];
/** Joins the key from two parts, so that the command's text does not contain the key. */
const PRINTS_KEY = `console.log(${JSON.stringify(KEY.slice(0, 8))} + ${JSON.stringify(KEY.slice(8))})`;
const fromCommand = (text: string) => createProviderKeyReader(NEEDS, { command: script(text) }, {}).read();

describe('the key of a provider', () => {
  test('the key comes from its usual variable, or from the variable in the settings', async () => {
    const env = { ANTHROPIC_API_KEY: 'usual', MINE: KEY };
    expect(await createProviderKeyReader(NEEDS, undefined, env).read()).toBe('usual');
    const own = createProviderKeyReader(NEEDS, { env: 'MINE' }, env);
    expect(await own.read()).toBe(KEY);
    expect(own.source).toEqual({ type: 'variable', name: 'MINE', set: true });
  });

  test.each([
    ['no variable', undefined, {}, 'ANTHROPIC_API_KEY'],
    ['the variable of the settings is missing', { env: 'MINE' }, { ANTHROPIC_API_KEY: KEY }, 'MINE'],
    ['the variable contains two words', undefined, { ANTHROPIC_API_KEY: `${KEY} x` }, 'ANTHROPIC_API_KEY'],
  ])('%s: the error names the variable, and never the key', (_, setting, env, named) => {
    let message = '';
    try {
      createProviderKeyReader(NEEDS, setting, env);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain(named);
    expect(message).not.toContain(KEY);
  });

  test('the key is the first line that the key command prints', async () => {
    expect(await fromCommand(`${PRINTS_KEY}; console.log('user: ada')`)).toBe(KEY);
  });

  test.each([
    ['prints nothing', '', 'CONFIGURATION', /printed nothing/],
    ['prints two words', "console.log('no such entry')", 'CONFIGURATION', /printed no key/],
    [
      'contains the key',
      `console.log(${JSON.stringify(KEY)})`,
      'CONFIGURATION',
      /would contain the key as plain text/,
    ],
    [
      'fails, and may succeed later',
      `${PRINTS_KEY}; process.exitCode = 3`,
      'AGENT_UNREACHABLE',
      /exit code 3.*Run the command in a terminal/,
    ],
  ])(
    'the key of a command that %s is refused, and the error does not contain the command’s output',
    async (_, text, reason, says) => {
      const error: unknown = await fromCommand(text).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason, message: expect.stringMatching(says) });
      expect(String(error)).not.toContain(KEY);
    },
  );

  test('a key command that does not exist gives a permanent error', async () => {
    const { read } = createProviderKeyReader(NEEDS, { command: ['/no/such/program'] }, {});
    await expect(read()).rejects.toMatchObject({
      reason: 'CONFIGURATION',
      message: expect.stringContaining('was not found'),
    });
  });

  test('the settings themselves cannot contain the key', () => {
    const { error } = providerKeySettingSchema.safeParse(KEY);
    expect(error?.issues[0]?.message).toMatch(/the key itself does not belong in the file/);
  });
});
