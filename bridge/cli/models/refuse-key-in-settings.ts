/** Refuses a `model set` that would write an API key into a file. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { readApiKeyFromCommand } from '../../../shared/runtime/key-command.ts';
import { SecretCommandError } from '../../../shared/runtime/secret-command.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { looksLikeApiKey, type ModelChange } from './edit-model-settings.ts';

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Throws if the settings would contain an API key. Runs the key command, because only its output shows whether the
 * command contains the key. The caller must do this before it writes any file, even a temporary one.
 * @throws UsageError if the person typed a variable's value instead of its name; ProductError CONFIGURATION if the key
 * command fails or contains the key
 */
export async function refuseKeyInModelChange({ key }: ModelChange, env: Environment): Promise<void> {
  if (key === undefined) return;
  if ('env' in key) {
    if (isKey(key.env, env))
      throw new UsageError(
        '--key-variable takes the name of a variable, e.g. ANTHROPIC_API_KEY, not the key itself. Nothing was changed.',
      );
    return;
  }
  try {
    await readApiKeyFromCommand(key.command);
  } catch (error) {
    if (!(error instanceof SecretCommandError)) throw error;
    throw new ProductError('CONFIGURATION', `Nothing was changed: the key command ${error.message}`);
  }
}

/**
 * Returns true if the word is a key and not the name of a variable. A shell replaces `$NAME` with the value of the
 * variable. So the value of any variable counts as a key.
 */
function isKey(name: string, env: Environment): boolean {
  if (!VARIABLE_NAME.test(name) || looksLikeApiKey(name)) return true;
  return env[name] === undefined && Object.values(env).includes(name);
}
