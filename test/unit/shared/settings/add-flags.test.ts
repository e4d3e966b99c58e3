import { describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { z } from 'zod';
import {
  resolveSettings,
  defineSetting,
  defineSwitch,
  withVariables,
} from '../../../../shared/settings/resolve-settings.ts';
import { addSettingFlags } from '../../../../shared/settings/add-flags.ts';

const SETTINGS = withVariables('T', {
  open: defineSwitch(false, 'let others in'),
  where: defineSetting({
    placeholder: 'place',
    schema: z.string(),
    fallback: '',
    describe: 'a place',
    allowed: 'a place',
  }),
  names: defineSetting({
    kind: 'list',
    schema: z.array(z.string()),
    fallback: [],
    describe: 'names',
    allowed: 'names',
  }),
});

const command = () => addSettingFlags(new Command('program'), SETTINGS);

function valuesOf(...args: string[]) {
  const flags = command().parse(args, { from: 'user' }).opts();
  return resolveSettings(SETTINGS, { flags, env: {}, file: { path: 'config.json', values: {} } });
}

describe('the command-line flags of settings', () => {
  test('a boolean flag works without a value and with one', () => {
    expect(valuesOf().open).toBe(false);
    expect(valuesOf('--open').open).toBe(true);
    expect(valuesOf('--open', '--names', 'a').open).toBe(true);
    expect(valuesOf('--open=yes').open).toBe(true);
    expect(valuesOf('--open=no').open).toBe(false);
    expect(() => valuesOf('--open=perhaps')).toThrow('it is not true or false');
  });

  test('a boolean flag that takes the command as its value is refused, and the error says how to write it', () => {
    expect(() => valuesOf('--open', 'doctor')).toThrow(/Before a command, write --open=yes\.$/);
  });

  test('each list flag adds items', () => {
    expect(valuesOf('--names', 'a', '--names', 'b').names).toEqual(['a', 'b']);
  });

  test.each(['--where', '--names'])('%s does not take the next option as its value', (flag) => {
    const program = command()
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
    const parse = (...args: string[]) => program.parse(args, { from: 'user' });
    expect(() => parse(flag, '--open', 'yes')).toThrow(
      /argument '--open' is invalid\. It is another option\./,
    );
    expect(parse(flag, '-a').opts()).toMatchObject({ [flag.slice(2)]: flag === '--names' ? ['-a'] : '-a' });
  });

  test('the help names the variable, and no parser details', () => {
    const help = command().helpInformation();
    expect(help).toContain('let others in (T_OPEN)');
    expect(help).not.toContain('preset');
  });
});
