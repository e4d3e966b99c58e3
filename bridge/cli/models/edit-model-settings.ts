/** Changes the model settings in the text of the configuration file, for the command `model set`. Pure. */
import type { ModelTier } from '../../../shared/settings/model-tiers.ts';
import { parse } from 'shell-quote';
import { configFormatOf } from '../clients/config-text.ts';
import { UsageError } from '../terminal/exit-codes.ts';

export interface ModelChange {
  /** The id of the model: `offline`, or `provider:model`. */
  id: string;
  tier?: ModelTier | undefined;
  key?: { env: string } | { command: string[] } | undefined;
  baseUrl?: string | undefined;
}

const SETTINGS = { default: 'model', fast: 'fastModel', smart: 'smartModel' } as const;

/**
 * Changes only the settings of this model. The rest of the text stays.
 * @param text the text of the file; '' if there is no file
 * @throws Error if the text is not a JSON object
 */
export function setModelInConfigText(text: string, { id, tier, key, baseUrl }: ModelChange): string {
  const config = configFormatOf('json');
  const provider = id.split(':', 1)[0] ?? '';
  let after = config.put(text, ['server'], { [SETTINGS[tier ?? 'default']]: id });
  if (key !== undefined) {
    // A provider's entry has either `env` or `command`. So the old entry is removed before the new one is added.
    if (config.read(after, ['server', 'keys', provider]) !== undefined)
      after = config.remove(after, ['server', 'keys', provider]);
    after = config.put(after, ['server', 'keys', provider], key);
  }
  return baseUrl === undefined ? after : config.put(after, ['server', 'baseUrls'], { [provider]: baseUrl });
}

/** Matches the API keys of well-known providers. `refuse-key-in-settings.ts` finds other keys. */
const API_KEY = /(?:sk-|sk_|AIza|gsk_|xai-)[\w-]{16,}/;

export function looksLikeApiKey(word: string): boolean {
  return API_KEY.test(word);
}

/**
 * Splits a command line into a program and its arguments.
 * @param option the option that contains the command line, for error messages
 * @throws UsageError if the command needs a shell, or contains the API key of a provider
 */
export function splitCommandLine(text: string, option = '--key-command'): string[] {
  let variable = false;
  const words = parse(text, () => {
    variable = true;
    return '';
  });
  const plain = words.filter((word) => typeof word === 'string');
  if (plain.length === 0) throw new UsageError(`${option} needs a command, e.g. "pass show work".`);
  if (variable || plain.length < words.length)
    throw new UsageError(
      `The command of ${option} runs without a shell, so it cannot contain variables, pipes or patterns. Write: ${option} "sh -c '…'"`,
    );
  if (plain.some(looksLikeApiKey))
    throw new UsageError(
      `The command of ${option} contains a key itself, so the settings would contain the key as plain text. Store the key in a password manager, or in an environment variable.`,
    );
  return plain;
}
