import { isAbsolute, parse } from 'node:path';
import { z } from 'zod';
import {
  readConfigFile,
  requireKnownKeys,
  resolveSettings,
  resolveKnownSettings,
  sourceOfSetting,
} from '../../../shared/settings/resolve-settings.ts';
import type { SettingSources } from '../../../shared/settings/resolve-settings.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { locationFlagDefinitions, locateSettings } from '../../../shared/settings/settings-location.ts';
import { createWorkspaceOpener } from './open-allowed-workspace.ts';
import { identifyBarredDirectory } from '../../tools/workspace/barred-directory.ts';
import { isLoopback } from '../../../shared/net/loopback.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { ALL_SERVER_SETTINGS, type ServerSettings } from './settings.ts';

/** The settings whose URL may contain a password. */
const DATABASE_SETTINGS = ['database', 'databaseListen'] as const;

/** The flags that name the state directory and the configuration file. */
export const SERVER_LOCATION_FLAGS = locationFlagDefinitions('journal, token and address');

/**
 * Reads the server's settings from flags, environment variables, the configuration file (section "server") and
 * defaults.
 * @param flags commander's result: the settings' keys, `stateDir` and `config`
 * @throws ProductError CONFIGURATION
 */
export async function readServerSettings(
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<ServerSettings> {
  const { stateDir, configFile, sources } = await serverSources(flags, env);
  const settings = resolveSettings(ALL_SERVER_SETTINGS, sources);
  checkHost(settings.host, settings.allowRemote);
  checkDatabase(settings, sources);
  if (settings.workspace !== undefined) await checkWorkspace({ ...settings, stateDir }, sources);
  const portChosen = sourceOfSetting(ALL_SERVER_SETTINGS, 'port', sources) !== 'default';
  return {
    ...settings,
    workspace: settings.workspace ?? currentDirectory(),
    stateDir,
    configFile,
    portChosen,
  };
}

/** The settings that say where the server stores its records. */
export type RecordStorePlace = Pick<ServerSettings, 'stateDir' | 'database'>;

/**
 * Reads only where the server stores its records, so the other settings may be incomplete.
 * @throws ProductError CONFIGURATION
 */
export async function readRecordStorePlace(
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<RecordStorePlace> {
  const { stateDir, sources } = await serverSources(flags, env);
  const { database, databaseListen } = ALL_SERVER_SETTINGS;
  requireKnownKeys(ALL_SERVER_SETTINGS, sources);
  const settings = resolveKnownSettings({ database, databaseListen }, sources);
  checkDatabase(settings, sources);
  return { stateDir, database: settings.database };
}

/**
 * Returns the source of each setting's value: a flag, a variable, the path of the file, or `default`.
 * @throws ProductError CONFIGURATION if the file cannot be read
 */
export async function readSettingSources<Key extends keyof typeof ALL_SERVER_SETTINGS>(
  keys: readonly Key[],
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<Record<Key, string>> {
  const { sources } = await serverSources(flags, env);
  const origins = keys.map((key) => [key, sourceOfSetting(ALL_SERVER_SETTINGS, key, sources)]);
  return z.custom<Record<Key, string>>().parse(Object.fromEntries(origins));
}

async function serverSources(
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<{ stateDir: string; configFile: string | undefined; sources: SettingSources }> {
  const { stateDir, configFile, named, flags: settingFlags } = locateSettings(flags, env);
  const file = await readConfigFile(configFile, named);
  const sources = { flags: settingFlags, env, file: { path: configFile, values: file.server } };
  return { stateDir, configFile: named ? configFile : undefined, sources };
}

/**
 * Reads `--agent acp -- gemini --acp`. The words after the two dashes are the agent's command line. Returns undefined
 * if the words do not follow `--agent acp`.
 */
export function flagsWithAcpAgentCommand(
  flags: Readonly<Record<string, unknown>>,
  words: readonly string[],
): Readonly<Record<string, unknown>> | undefined {
  if (words.length === 0) return flags;
  const { agent } = flags;
  return Array.isArray(agent) && agent[0] === 'acp' ? { ...flags, agent: [...agent, ...words] } : undefined;
}

/** X1: allows only a loopback address, unless the operator sets `allowRemote`. */
function checkHost(host: string, allowRemote: boolean): void {
  if (isLoopback(host.toLowerCase()) || allowRemote) return;
  throw new ProductError(
    'CONFIGURATION',
    `Setting "host" is ${host}, which other machines can reach. A client with a token could run commands on this machine. Use 127.0.0.1, or add --allow-remote if you want this.`,
    { facts: { key: 'host' } },
  );
}

/** Refuses a password in a flag, because all users of the machine can read a command line. */
function checkDatabase(
  settings: Pick<ServerSettings, (typeof DATABASE_SETTINGS)[number]>,
  sources: SettingSources,
): void {
  for (const key of DATABASE_SETTINGS) {
    const url = settings[key];
    if (url === undefined) continue;
    const origin = sourceOfSetting(ALL_SERVER_SETTINGS, key, sources);
    const { password, searchParams } = new URL(url);
    if (!origin.startsWith('flag ') || (password === '' && !searchParams.has('password'))) continue;
    throw new ProductError(
      'CONFIGURATION',
      `The ${origin} contains a password, and all users of this machine can read it in the list of processes. Put the URL into ${ALL_SERVER_SETTINGS[key].env} or the configuration file, or the password into PGPASSWORD.`,
      { facts: { key, origin } },
    );
  }
}

/**
 * Requires that the tasks are in the SQLite file of the state directory.
 * @throws ProductError CONFIGURATION if the settings name a database
 */
export async function requireSqliteJournal(
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<void> {
  const { sources } = await serverSources(flags, env);
  const origin = sourceOfSetting(ALL_SERVER_SETTINGS, 'database', sources);
  if (origin === 'default') return;
  throw new ProductError(
    'CONFIGURATION',
    `The tasks are in a PostgreSQL database (setting "database" from ${origin}), and this command works on the SQLite file of the state directory. Use pg_dump and pg_restore (docs/scaling.md).`,
    { facts: { key: 'database', origin } },
  );
}

/**
 * Opens the configured workspace once. So a missing directory stops the start of the server, and not the first task.
 */
async function checkWorkspace(
  { workspace, allowWorkspace, stateDir }: Pick<ServerSettings, 'workspace' | 'allowWorkspace' | 'stateDir'>,
  sources: SettingSources,
): Promise<void> {
  // If the state directory is missing, there is no directory to protect.
  const own = await identifyBarredDirectory(stateDir).catch(() => undefined);
  const open = createWorkspaceOpener({
    fallback: workspace,
    allowed: allowWorkspace,
    barred: own ? [own] : [],
  });
  try {
    await open(undefined);
  } catch (error) {
    const origin = sourceOfSetting(ALL_SERVER_SETTINGS, 'workspace', sources);
    throw new ProductError(
      'CONFIGURATION',
      `Setting "workspace" from ${origin} is not valid: ${errorMessageOf(error)}`,
      { facts: { key: 'workspace', origin }, cause: error },
    );
  }
}

/** Returns the current directory. Returns undefined for the root of a file system, because no task may use it. */
function currentDirectory(): string | undefined {
  const path = process.cwd();
  return isAbsolute(path) && parse(path).root !== path ? path : undefined;
}
