/** Refuses a `model set` that would write a key into a file. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { keyFromCommand } from '../../../shared/runtime/key-command.ts';
import { SecretCommandError } from '../../../shared/runtime/secret-command.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { looksLikeKey, type ModelChange } from './edit-model-settings.ts';

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Runs the key command, because only its output shows whether the command contains the key. Call this before the
 * first write: a temporary file also counts.
 * @throws UsageError for a variable's value instead of its name; ProductError CONFIGURATION for a key command that
 * fails or contains the key
 */
export async function refuseKeyInSettings(
  { key }: ModelChange,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (key === undefined) return;
  if ('env' in key) {
    if (isKey(key.env, env))
      throw new UsageError(
        '--key-variable takes the name of a variable, e.g. ANTHROPIC_API_KEY, not the key itself. Nothing was changed.',
      );
    return;
  }
  try {
    await keyFromCommand(key.command);
  } catch (error) {
    if (!(error instanceof SecretCommandError)) throw error;
    throw new ProductError('CONFIGURATION', `Nothing was changed: the key command ${error.message}`);
  }
}

/** A shell replaces `$NAME` by the variable's value. So the value of another variable is a key, too. */
function isKey(name: string, env: Readonly<Record<string, string | undefined>>): boolean {
  if (!VARIABLE_NAME.test(name) || looksLikeKey(name)) return true;
  return env[name] === undefined && Object.values(env).includes(name);
}
