/**
 * Finds the credentials for requests: tokens and headers from the settings, the environment, or the output of a
 * command.
 */
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { SecretSource } from '../settings/agent-settings.ts';
import { readSecretFromCommand } from '../../shared/runtime/secret-command.ts';
import type { Environment } from '../../shared/runtime/environment.ts';

interface Credentials {
  tokenEnv?: string | undefined;
  tokenCommand?: readonly string[] | undefined;
  headers: Readonly<Record<string, SecretSource>>;
}

/**
 * Matches a valid HTTP header value (RFC 9110 §5.5). `fetch` would quote an invalid value, which may be a secret, in
 * its error.
 */
const HEADER_VALUE = /^[\t\x20-\x7e]+$/;

/** A configured secret, with the names that error messages use for it. */
interface ConfiguredSecret {
  /** The owner of the secret in error messages, such as `Agent "team"`. */
  whose: string;
  what: string;
  source: SecretSource;
}

/**
 * Builds the headers that contain the credentials. The bridge builds them again for each connection, because a token
 * may have been renewed.
 * @param whose names the owner of the credentials in error messages, such as `Agent "team"`
 * @throws ProductError CONFIGURATION that names the setting, but never the value
 */
export async function credentialHeaders(
  whose: string,
  { tokenEnv, tokenCommand, headers }: Credentials,
  env: Environment,
): Promise<Record<string, string>> {
  const named = Object.entries(headers).map(
    async ([name, source]) =>
      [name, await readSecret({ whose, what: `header ${name}`, source }, env)] as const,
  );
  const found = Object.fromEntries(await Promise.all(named));
  const source = tokenSource(tokenEnv, tokenCommand);
  if (source === undefined) return found;
  return { ...found, authorization: `Bearer ${await readSecret({ whose, what: 'token', source }, env)}` };
}

function tokenSource(
  tokenEnv: string | undefined,
  tokenCommand: readonly string[] | undefined,
): SecretSource | undefined {
  if (tokenCommand !== undefined) return { command: [...tokenCommand] };
  return tokenEnv === undefined ? undefined : { env: tokenEnv };
}

/**
 * Reads a secret from the settings, the environment, or the output of a command.
 * @throws ProductError CONFIGURATION that names the setting, but never the value
 */
export async function readSecret(
  { whose, what, source }: ConfiguredSecret,
  env: Environment,
): Promise<string> {
  const value = await readConfiguredSecret({ whose, what, source }, env);
  if (HEADER_VALUE.test(value)) return value;
  throw unusableCredentialError(
    whose,
    `Its ${what} is ${value === '' ? 'empty' : 'not a single line of plain characters'}, and cannot be sent. (It is not shown here: it may be a secret.)`,
  );
}

async function readConfiguredSecret(
  { whose, what, source }: ConfiguredSecret,
  env: Environment,
): Promise<string> {
  if (typeof source === 'string') return source;
  if ('env' in source) {
    const value = env[source.env];
    if (value !== undefined) return value.trim();
    throw new ProductError(
      'CONFIGURATION',
      `${whose} takes its ${what} from the environment variable ${source.env}, which is not set. Set it where the bridge starts: in your shell, or in the settings of the MCP client.`,
    );
  }
  try {
    return await readSecretFromCommand(source.command);
  } catch (error) {
    throw unusableCredentialError(
      whose,
      `The command for its ${what} (${source.command[0] ?? ''} …) ${errorMessageOf(error)}. Its output is not shown, because it may contain the secret. Run it in a terminal to see it.`,
    );
  }
}

function unusableCredentialError(whose: string, problem: string): ProductError {
  return new ProductError('CONFIGURATION', `${whose} cannot be used. ${problem}`);
}
