/** Reads the API key of a model provider from the output of a command. */
import { SecretCommandError, readSecretFromCommand } from './secret-command.ts';

/**
 * Matches a key that is valid in an HTTP header. `fetch` quotes any other key in its error message, so the key could
 * appear in a log.
 */
export const SENDABLE_API_KEY_PATTERN = /^[\x21-\x7e]+$/;
/**
 * The time limit of the command in milliseconds. It is long, because a person may have to unlock a password manager.
 */
export const API_KEY_COMMAND_LIMIT_MS = 20_000;

/**
 * Runs the command without a shell, and returns the first line of its output. Refuses a command that contains its own
 * output, because the settings would then contain the key.
 * @throws SecretCommandError. Its message completes a sentence that starts with a name of the command. The message
 * contains neither the command nor the key.
 */
export async function readApiKeyFromCommand(command: readonly string[]): Promise<string> {
  const [key = ''] = (await outputOf(command)).split('\n', 1).map((line) => line.trim());
  if (!SENDABLE_API_KEY_PATTERN.test(key))
    throw new SecretCommandError(
      `printed ${key === '' ? 'nothing' : 'no key'}. Its first line must be the key.`,
      true,
    );
  // The words are joined, so that this test also finds a key that the shell's quotes have split into several words.
  if (command.join('').includes(key))
    throw new SecretCommandError(
      'contains the key itself, so the settings would contain the key as plain text. Store the key in a password manager, or in a variable.',
      true,
    );
  return key;
}

async function outputOf(command: readonly string[]): Promise<string> {
  try {
    return await readSecretFromCommand(command, API_KEY_COMMAND_LIMIT_MS);
  } catch (error) {
    if (!(error instanceof SecretCommandError)) throw error;
    throw new SecretCommandError(
      `${error.message}. Its output is not shown, because it may contain the key. Run the command in a terminal to see the reason.`,
      error.permanent,
    );
  }
}
