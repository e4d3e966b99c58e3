/** Reads the server's settings: flags, environment variables, the "server" section of the configuration file, defaults. */
import { stat } from 'node:fs/promises';
import { isAbsolute, parse } from 'node:path';
import { originOf, readConfigFile, resolveSettings } from '../../shared/settings/config.ts';
import type { Sources } from '../../shared/settings/config.ts';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { sourceFlags, settingsSources } from '../../shared/settings/settings-sources.ts';
import { allowedWorkspaces } from './allowed-workspaces.ts';
import { isLoopback } from '../http/auth/origin-check.ts';
import { ALL_SETTINGS, type ServerSettings } from './settings.ts';

/** Flags that say where the other settings are. */
export const PLACE_FLAGS = sourceFlags('journal, token and address');

/**
 * @param flags what commander found, by the settings' keys, with `stateDir` and `config` beside them.
 * @throws ProductError CONFIGURATION
 */
export async function readServerSettings(
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ServerSettings> {
  const { stateDir, configFile, named, flags: settingFlags } = settingsSources(flags, env);
  const file = await readConfigFile(configFile, named);
  const sources = { flags: settingFlags, env, file: { path: configFile, values: file.server } };
  const settings = resolveSettings(ALL_SETTINGS, sources);
  checkHost(settings.host, settings.allowRemote);
  if (settings.workspace !== undefined) await checkWorkspace({ ...settings, stateDir }, sources);
  return { ...settings, workspace: settings.workspace ?? currentDirectory(), stateDir };
}

/**
 * `--agent acp -- gemini --acp`: what follows the two dashes is the agent's command line, whose flags are its own.
 * @returns undefined for words that belong to nothing.
 */
export function withAgentCommand(
  flags: Readonly<Record<string, unknown>>,
  words: readonly string[],
): Readonly<Record<string, unknown>> | undefined {
  if (words.length === 0) return flags;
  const { agent } = flags;
  return Array.isArray(agent) && agent[0] === 'acp' ? { ...flags, agent: [...agent, ...words] } : undefined;
}

/** X1: loopback, unless somebody has said in so many words that others may come in. */
function checkHost(host: string, allowRemote: boolean): void {
  if (isLoopback(host.toLowerCase()) || allowRemote) return;
  throw new ProductError(
    'CONFIGURATION',
    `Setting "host" is ${host}, which other machines may reach: whoever has a token could run commands on this one. Use 127.0.0.1, or add --allow-remote if that is what you want.`,
    { facts: { key: 'host' } },
  );
}

/** The workspace somebody chose is opened once, so that it is not the first task that finds it missing. */
async function checkWorkspace(
  { workspace, allowWorkspace, stateDir }: Pick<ServerSettings, 'workspace' | 'allowWorkspace' | 'stateDir'>,
  sources: Sources,
): Promise<void> {
  // As long as it does not exist, nothing lies in it.
  const own = await stat(stateDir, { bigint: true }).catch(() => undefined);
  const open = allowedWorkspaces({ fallback: workspace, allowed: allowWorkspace, barred: own ? [own] : [] });
  try {
    await open(undefined);
  } catch (error) {
    const origin = originOf(ALL_SETTINGS, 'workspace', sources);
    throw new ProductError(
      'CONFIGURATION',
      `Setting "workspace" from ${origin} is not valid: ${messageOf(error)}`,
      { facts: { key: 'workspace', origin }, cause: error },
    );
  }
}

/** Undefined in the root of a file system, where no task may work. */
function currentDirectory(): string | undefined {
  const path = process.cwd();
  return isAbsolute(path) && parse(path).root !== path ? path : undefined;
}
