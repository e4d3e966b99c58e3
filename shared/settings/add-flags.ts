import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { flagName } from './resolve-settings.ts';
import type { Settings } from './resolve-settings.ts';

/**
 * Adds one option to the command for each setting, so that `--help` lists every flag, variable and default. A list
 * option may be repeated. A boolean option needs no value, but accepts `=no`.
 */
export function addSettingFlags(command: Command, settings: Settings): Command {
  for (const [key, it] of Object.entries(settings)) {
    const word = it.placeholder ?? it.kind;
    const value = it.kind === 'boolean' ? '[yes|no]' : it.valueOptional ? `[${word}]` : `<${word}>`;
    const option = new Option(
      `--${flagName(key)} ${value}`,
      `${it.describe} (${it.env}${fallbackOf(it.fallback)})`,
    );
    if (it.kind === 'list')
      option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), valueOf(text)]);
    else if (option.required) option.argParser(valueOf);
    command.addOption(option);
  }
  return command;
}

/**
 * Returns the value of an option. If an option lacks its value, Commander takes the next option as the value. No value
 * of a setting begins with two hyphens.
 */
function valueOf(text: string): string {
  if (text.startsWith('--')) throw new InvalidArgumentError('It is another option. Write a value before it.');
  return text;
}

function fallbackOf(fallback: unknown): string {
  if (fallback === true) return ', default yes';
  const shown = Array.isArray(fallback) ? fallback.join(',') : fallback;
  return (typeof shown === 'string' && shown !== '') || typeof shown === 'number' ? `, default ${shown}` : '';
}
