/** Adds settings to a command as options. So `--help` names every flag, variable and default. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { flagName } from './config.ts';
import type { Settings } from './config.ts';

/** Adds one option for each setting. A list option may be repeated. A boolean option needs no value, but takes `=no`. */
export function addFlags(command: Command, settings: Settings): Command {
  for (const [key, it] of Object.entries(settings)) {
    const word = it.placeholder ?? it.kind;
    const value = it.kind === 'boolean' ? '[yes|no]' : it.valueOptional ? `[${word}]` : `<${word}>`;
    const option = new Option(
      `--${flagName(key)} ${value}`,
      `${it.describe} (${it.env}${fallbackOf(it.fallback)})`,
    );
    if (it.kind === 'list')
      option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
    command.addOption(option);
  }
  return command;
}

function fallbackOf(fallback: unknown): string {
  const shown = Array.isArray(fallback) ? fallback.join(',') : fallback;
  return (typeof shown === 'string' && shown !== '') || typeof shown === 'number' ? `, default ${shown}` : '';
}
