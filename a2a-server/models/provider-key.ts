/**
 * Finds the key of a provider: in an environment variable, or in the output of a command. The settings contain only the
 * name of the variable, or the command.
 */
import { z } from 'zod';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { SecretCommandError, secretFrom } from '../../shared/runtime/secret-command.ts';
import { RETRY_AFTER } from './model.ts';

export const keySettingSchema = z.union(
  [
    z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
    z.strictObject({ command: z.array(z.string().min(1)).min(1).max(100) }),
  ],
  {
    error:
      'a key is {"env": "NAME"} or {"command": ["program", "argument"]}; the key itself does not belong in the file',
  },
);
/** `env`: the variable with the key. `command`: a program and its arguments; the first line of its output is the key. */
export type KeySetting = z.infer<typeof keySettingSchema>;

/** Where a key comes from. `set` is false if the variable is missing or empty. */
export type KeySource =
  { type: 'variable'; name: string; set: boolean } | { type: 'command'; program: string };

export interface ProviderKey {
  source: KeySource;
  /**
   * @returns the key; '' if the provider needs no key. @throws ProductError CONFIGURATION, or AGENT_UNREACHABLE for a
   * command that fails
   */
  read: () => Promise<string>;
}

export interface KeyNeeds {
  provider: string;
  /** The model that needs the key, for messages. */
  model: string;
  /** The usual variables of the provider. The first variable that is not empty applies. */
  variables: readonly string[];
  needed: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Characters that a header may contain. `fetch` would quote an invalid key in its error. */
const SENDABLE = /^[\x21-\x7e]+$/;
/** The pause before a failed command runs again, in milliseconds. A person may have to unlock a password store. */
const COMMAND_PAUSE_MS = 10_000;
/** The time limit of the command, in milliseconds. A person may first have to unlock a password store. */
export const KEY_COMMAND_LIMIT_MS = 20_000;

/** Returns the source of a key. Reads no key. */
export function keySource(
  { variables }: Pick<KeyNeeds, 'variables'>,
  setting: KeySetting | undefined,
  env: Environment,
): KeySource {
  if (setting !== undefined && 'command' in setting)
    return { type: 'command', program: setting.command[0] ?? '' };
  const named = setting === undefined ? variables : [setting.env];
  const name = named.find((variable) => env[variable]) ?? named[0] ?? '';
  return { type: 'variable', name, set: (env[name] ?? '') !== '' };
}

/** @throws ProductError CONFIGURATION if a needed variable is missing */
export function providerKey(needs: KeyNeeds, setting: KeySetting | undefined, env: Environment): ProviderKey {
  const { provider, needed, variables } = needs;
  const source = keySource(needs, setting, env);
  if (setting !== undefined && 'command' in setting)
    return { source, read: () => keyFromCommand(provider, setting.command) };
  const { env: own } = setting ?? {};
  const key = source.type === 'variable' ? (env[source.name] ?? '') : '';
  if (key === '' && (needed || own !== undefined))
    throw missingKey(needs, own === undefined ? variables : [own]);
  if (key !== '' && !SENDABLE.test(key)) {
    const variable = keySourceText(provider, source);
    throw new ProductError(
      'CONFIGURATION',
      `The key in ${variable} contains spaces or special characters. Set the variable to the key alone.`,
      { facts: { provider } },
    );
  }
  return { source, read: () => Promise.resolve(key) };
}

/** Describes the source of a key, for messages. */
export function keySourceText(provider: string, source: KeySource): string {
  return source.type === 'variable' ? source.name : `the key command of ${provider} (${source.program} …)`;
}

function missingKey({ provider, model }: KeyNeeds, variables: readonly string[]): ProductError {
  return new ProductError(
    'CONFIGURATION',
    `The provider ${provider} needs a key: set ${variables.join(' or ')} in the environment of the program that starts the server, and restart the server. Or name a command that prints the key: mcp-a2a-bridge model set ${provider}:${model} --key-command "<command>".`,
    { facts: { provider, variable: variables[0] ?? '' } },
  );
}

async function keyFromCommand(provider: string, command: readonly string[]): Promise<string> {
  const source = keySourceText(provider, { type: 'command', program: command[0] ?? '' });
  let output: string;
  try {
    output = await secretFrom(command, KEY_COMMAND_LIMIT_MS);
  } catch (error) {
    const message = `${source} ${messageOf(error)}. Its output is not shown, because it may contain the key. Run the command in a terminal to see the reason.`;
    throw error instanceof SecretCommandError && error.cannotRun
      ? new ProductError('CONFIGURATION', sentence(message), { facts: { provider } })
      : new ProductError('AGENT_UNREACHABLE', sentence(message), {
          facts: { provider, [RETRY_AFTER]: String(COMMAND_PAUSE_MS) },
        });
  }
  const [key = ''] = output.split('\n', 1).map((line) => line.trim());
  if (!SENDABLE.test(key))
    throw refused(
      provider,
      `${source} printed ${key === '' ? 'nothing' : 'no key'}. Its first line must be the key.`,
    );
  if (command.some((word) => word.includes(key)))
    throw refused(
      provider,
      `${source} contains the key itself, so the settings would hold it in clear. Store the key in a password manager, or in a variable.`,
    );
  return key;
}

function refused(provider: string, message: string): ProductError {
  return new ProductError('CONFIGURATION', sentence(message), { facts: { provider } });
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
