import { describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  readConfigFile,
  resolveSettings,
  defineSetting,
  defineSwitch,
  withVariables,
} from '../../../../shared/settings/resolve-settings.ts';
import type { SettingSources } from '../../../../shared/settings/resolve-settings.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const SETTINGS = withVariables('T', {
  port: defineSetting({
    kind: 'number',
    schema: z.number().int().min(0).max(65_535),
    fallback: 41242,
    describe: 'port',
    allowed: 'a whole number from 0 to 65535',
  }),
  names: defineSetting({
    kind: 'list',
    schema: z.array(z.string()),
    fallback: [],
    describe: 'names',
    allowed: 'names',
  }),
  open: defineSwitch(false, 'open'),
  level: defineSetting({
    schema: z.enum(['low', 'high']),
    fallback: 'low',
    describe: 'level',
    allowed: 'low, high',
  }),
  apiKey: defineSetting({
    schema: z.string().min(10).optional(),
    fallback: undefined,
    describe: 'key',
    allowed: 'a key',
  }),
});

const from = (sources: Partial<Omit<SettingSources, 'file'>> & { file?: Record<string, unknown> }) =>
  resolveSettings(SETTINGS, {
    flags: sources.flags ?? {},
    env: sources.env ?? {},
    file: { path: '/etc/config.json', values: sources.file ?? {} },
  });

describe('the settings of both programs', () => {
  test('a flag has priority over an environment variable, a variable over the file, and the file over the default', () => {
    const file = { port: 3 };
    const env = { T_PORT: '2' };
    const flags = { port: '1' };
    expect(from({ flags, env, file }).port).toBe(1);
    expect(from({ env, file }).port).toBe(2);
    expect(from({ file }).port).toBe(3);
    expect(from({}).port).toBe(41242);
  });

  test('an empty variable counts as unset', () => {
    expect(from({ env: { T_PORT: '' }, file: { port: 3 } }).port).toBe(3);
  });

  test('text is converted to the setting’s type', () => {
    expect(from({ env: { T_NAMES: 'a, b,,c', T_OPEN: 'yes', T_PORT: '0' } })).toEqual({
      port: 0,
      names: ['a', 'b', 'c'],
      open: true,
      level: 'low',
      apiKey: undefined,
    });
    expect(from({ flags: { names: ['a,b', 'c'], open: true } })).toMatchObject({
      names: ['a,b', 'c'],
      open: true,
    });
  });

  test.each([
    [{ flags: { port: 'many' } }, 'Setting "port" from flag --port', 'a whole number from 0 to 65535'],
    [{ env: { T_PORT: '70000' } }, 'from environment variable T_PORT', 'a whole number'],
    [{ env: { T_PORT: ' ' } }, 'from environment variable T_PORT', 'a whole number'],
    [{ env: { T_OPEN: 'perhaps' } }, 'environment variable T_OPEN', 'true or false'],
    [{ file: { port: '41242' } }, 'from /etc/config.json', 'a whole number'],
    [{ file: { names: 'a,b' } }, 'from /etc/config.json', 'names'],
    [{ flags: { apiKey: 'short' } }, 'from flag --api-key', 'a key'],
  ])(
    'the value %j is refused, and the error names key, origin and the allowed values',
    (sources, origin, allowed) => {
      expect(() => from(sources)).toThrow(origin);
      expect(() => from(sources)).toThrow(`Allowed: ${allowed}`);
    },
  );

  test.each([
    [{ flags: { port: 'many' } }, 'it is not a number'],
    [{ flags: { port: '1.5' } }, 'it is not a whole number'],
    [{ env: { T_PORT: '70000' } }, 'it is too large: the maximum is 65535'],
    [{ env: { T_PORT: '-1' } }, 'it is too small: the minimum is 0'],
    [{ env: { T_OPEN: 'perhaps' } }, 'it is not true or false'],
    [{ file: { names: 'a,b' } }, 'it is not a list'],
    [{ file: { names: ['a', 1] } }, 'entry 2: it is not text'],
    [{ flags: { level: 'middle' } }, 'it is not an allowed value'],
    [{ flags: { apiKey: 'short' } }, 'it is too short: the minimum is 10 characters'],
  ])('the value %j is refused with a plain sentence, without schema terms', (sources, words) => {
    expect(() => from(sources)).toThrow(` is not valid: ${words}. Allowed: `);
  });

  test('X1 the error does not repeat an invalid value, which may be a secret', () => {
    expect(() => from({ env: { T_API_KEY: 'hunter2' } })).toThrow(/^(?!.*hunter2)/s);
  });

  test('an unknown key of the file is refused, and the error names a similar key, or all keys', () => {
    expect(() => from({ file: { prot: 1 } })).toThrow(
      'Unknown setting "prot" in /etc/config.json. Did you mean "port"?',
    );
    expect(() => from({ file: { zzzzzz: 1 } })).toThrow(
      'Unknown setting "zzzzzz" in /etc/config.json. Known: port, names, open, level, apiKey.',
    );
  });
});

describe('the configuration file', () => {
  test('the file has a section for each program', async () => {
    const path = join(await temporaryDirectory(), 'config.json');
    await writeFile(path, '{"server":{"port":1}}');
    expect(await readConfigFile(path, true)).toEqual({ server: { port: 1 }, bridge: {} });
  });

  test('the file may be missing, unless the user named it', async () => {
    const path = join(await temporaryDirectory(), 'config.json');
    expect(await readConfigFile(path, false)).toEqual({ server: {}, bridge: {} });
    await expect(readConfigFile(path, true)).rejects.toMatchObject({ reason: 'CONFIGURATION' });
  });

  test('X1 the error about invalid JSON names the line, and contains no part of the file', async () => {
    const path = join(await temporaryDirectory(), 'config.json');
    await writeFile(path, '{ "server": {\n  "metricsToken": secret1234567890abcdef } }');
    const error: unknown = await readConfigFile(path, true).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('it is not JSON (line 2: invalid symbol)');
    expect(String(error)).not.toContain('secret');
  });

  test('a byte order mark at the start of the file is ignored', async () => {
    const path = join(await temporaryDirectory(), 'config.json');
    await writeFile(path, '\u{feff}{ "server": { "port": 1 } }');
    expect(await readConfigFile(path, true)).toEqual({ server: { port: 1 }, bridge: {} });
  });

  test.each(['{', '[]', '{"sever":{}}', '{"server":5}'])(
    'a file with the content %p is refused, and the error names the file',
    async (text) => {
      const path = join(await temporaryDirectory(), 'config.json');
      await writeFile(path, text);
      await expect(readConfigFile(path, false)).rejects.toThrow(path);
    },
  );
});
