/**
 * Gets a provider's key from an environment variable or from the output of a command. The settings contain only the
 * name of the variable, or the command.
 */
import { z } from 'zod';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import { readApiKeyFromCommand, SENDABLE_API_KEY_PATTERN } from '../../shared/runtime/key-command.ts';
import { SecretCommandError } from '../../shared/runtime/secret-command.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { RETRY_AFTER_FACT } from './model.ts';

export const providerKeySettingSchema = z.union(
  [
    z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
    z.strictObject({ command: z.array(z.string().min(1)).min(1).max(100) }),
  ],
  {
    error:
      'a key is {"env": "NAME"} or {"command": ["program", "argument"]}; the key itself does not belong in the file',
  },
);
/**
 * `env` names the variable with the key. `command` is a program with arguments. The first line of its output is the
 * key.
 */
export type ProviderKeySetting = z.infer<typeof providerKeySettingSchema>;

/** The source of a key. `set` is false if the variable is missing or empty. */
export type ProviderKeySource =
  | { type: 'variable'; name: string; set: boolean }
  | { type: 'command'; program: string };

export interface ProviderKeyReader {
  source: ProviderKeySource;
  /**
   * Returns the key, or '' if the provider needs no key.
   * @throws ProductError CONFIGURATION; AGENT_UNREACHABLE if the command fails
   */
  read: () => Promise<string>;
}

interface ProviderKeyRequirement {
  provider: string;
  model: string;
  /** The provider's usual variables. The first variable that is not empty applies. */
  variables: readonly string[];
  needed: boolean;
}

/**
 * The delay before a failed key command runs again. In this time, a person can unlock the password store that the
 * command reads.
 */
const COMMAND_PAUSE_MS = 10_000;

export function selectProviderKeySource(
  { variables }: Pick<ProviderKeyRequirement, 'variables'>,
  setting: ProviderKeySetting | undefined,
  env: Environment,
): ProviderKeySource {
  if (setting !== undefined && 'command' in setting)
    return { type: 'command', program: setting.command[0] ?? '' };
  const named = setting === undefined ? variables : [setting.env];
  const name = named.find((variable) => env[variable]) ?? named[0] ?? '';
  return { type: 'variable', name, set: (env[name] ?? '') !== '' };
}

/** Finds the key of a provider. @throws ProductError CONFIGURATION if a needed variable is missing */
export function createProviderKeyReader(
  needs: ProviderKeyRequirement,
  setting: ProviderKeySetting | undefined,
  env: Environment,
): ProviderKeyReader {
  const { provider, needed, variables } = needs;
  const source = selectProviderKeySource(needs, setting, env);
  if (setting !== undefined && 'command' in setting)
    return { source, read: () => readKeyCommand(provider, setting.command) };
  const { env: own } = setting ?? {};
  const key = source.type === 'variable' ? (env[source.name] ?? '') : '';
  if (key === '' && (needed || own !== undefined))
    throw missingKey(needs, own === undefined ? variables : [own]);
  if (key !== '' && !SENDABLE_API_KEY_PATTERN.test(key)) {
    const variable = providerKeySourceText(provider, source);
    throw new ProductError(
      'CONFIGURATION',
      `The key in ${variable} contains spaces or special characters. Set the variable to the key alone.`,
      { facts: { provider } },
    );
  }
  return { source, read: () => Promise.resolve(key) };
}

export function providerKeySourceText(provider: string, source: ProviderKeySource): string {
  return source.type === 'variable' ? source.name : `the key command of ${provider} (${source.program} …)`;
}

function missingKey({ provider, model }: ProviderKeyRequirement, variables: readonly string[]): ProductError {
  return new ProductError(
    'CONFIGURATION',
    `The provider ${provider} needs a key: set ${variables.join(' or ')} in the environment of the program that starts the server, and restart the server. Or name a command that prints the key: mcp-a2a-bridge model set ${provider}:${model} --key-command "<command>".`,
    { facts: { provider, variable: variables[0] ?? '' } },
  );
}

async function readKeyCommand(provider: string, command: readonly string[]): Promise<string> {
  try {
    return await readApiKeyFromCommand(command);
  } catch (error) {
    const source = providerKeySourceText(provider, { type: 'command', program: command[0] ?? '' });
    const message = capitalized(`${source} ${errorMessageOf(error)}`);
    throw error instanceof SecretCommandError && error.permanent
      ? new ProductError('CONFIGURATION', message, { facts: { provider } })
      : new ProductError('AGENT_UNREACHABLE', message, {
          facts: { provider, [RETRY_AFTER_FACT]: String(COMMAND_PAUSE_MS) },
        });
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
