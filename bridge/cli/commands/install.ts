/**
 * The commands `install` and `uninstall`: change the configuration files of MCP clients, and show a diff before they
 * write.
 */
import { access } from 'node:fs/promises';
import { ProductError } from '../../../shared/runtime/errors.ts';
import {
  type McpClientProgram,
  type ClientEnvironment,
  type ConfigScope,
  CONFIG_SCOPES,
  clientEnvironment,
} from '../clients/client.ts';
import { type BridgeEntry, findBridgeEntries, bridgeEntryWarnings } from '../clients/bridge-entries.ts';
import { CLIENT_NAMES, type ClientName, CLIENTS, isClientName } from '../clients/clients.ts';
import { writeConfig } from '../clients/config-file.ts';
import {
  type ConfigChange,
  configFormatOf,
  putBridgeEntry,
  removeBridgeEntry,
} from '../clients/config-text.ts';
import { confirmChange, planBridgeEntryChange, type WriteOptions } from '../clients/plan-entry-change.ts';
import {
  type BridgeEntryOutcome,
  bridgeEntryOutcomeFacts,
  bridgeEntryOutcomeLine,
  bridgeEntryOutcomesExitCode,
} from '../clients/entry-outcome.ts';
import { programExists } from '../../../shared/runtime/find-program.ts';
import { serveArgumentsProblem } from '../../settings/serve-arguments.ts';
import { chooseBridgeStartCommand } from '../clients/start-command.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { readChoiceOption } from '../terminal/option-value.ts';
import type { CommandRun } from '../context/run-command.ts';

interface InstallOptions extends WriteOptions {
  all?: boolean;
  scope?: string;
  name?: string;
}

const DEFAULT_NAME = 'a2a-bridge';
const VALID_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** The permissions of a new configuration file. Other users may read a project's file, but not the user's own files. */
const MODES: Readonly<Record<ConfigScope, number>> = { user: 0o600, project: 0o644, local: 0o600 };

/**
 * Adds the bridge to the configuration of one client. With `--all`, adds it to every client on this machine.
 * @param words the name of the client (not with `--all`), then arguments for the bridge that the entry contains
 * @param around where the clients have their configuration
 * @throws ProductError CONFIGURATION; UsageError, also for arguments with which the bridge would not start
 */
export async function installCommand(
  run: CommandRun<InstallOptions>,
  words: readonly string[],
  around: ClientEnvironment = clientEnvironment(),
): Promise<number> {
  const target = targetOf(run.options, words[0]);
  const args = target === 'all' ? words : words.slice(1);
  if (isClientName(args[0] ?? ''))
    throw new UsageError(
      'Nothing was written. Name one client, or use --all for each client on this machine.',
    );
  const problem = serveArgumentsProblem(args);
  if (problem !== undefined)
    throw new UsageError(`Nothing was written. The bridge would not start with these arguments: ${problem}`);
  const { command, args: before } = await chooseBridgeStartCommand(run.places.bridgeScript);
  return changeEntries(run, target, {
    around,
    decide: (it, text, keys) =>
      putBridgeEntry(configFormatOf(it.format), text, {
        keys,
        entry: it.entry({ command, args: [...before, ...args] }),
        ...(it.defaults && { defaults: it.defaults }),
      }),
    nextStep: ({ nextStep, projectNote }, scope) =>
      scope === 'project' && projectNote !== undefined ? `${nextStep} ${projectNote}` : nextStep,
    afterwards: async (name, text, keys) => {
      const client: McpClientProgram = CLIENTS[name];
      const hazards = bridgeEntryWarnings(client, configFormatOf(client.format).read(text, keys));
      return { lines: hazards.map((each) => `! Your settings stay: ${each}.`), facts: { hazards } };
    },
  });
}

/**
 * Removes the bridge from the configuration of one client. With `--all`, removes it from every client on this machine.
 * @throws ProductError CONFIGURATION; UsageError
 */
export async function uninstallCommand(
  run: CommandRun<InstallOptions>,
  words: readonly string[],
  around: ClientEnvironment = clientEnvironment(),
): Promise<number> {
  return changeEntries(run, targetOf(run.options, words[0]), {
    around,
    decide: (it, text, keys) => removeBridgeEntry(configFormatOf(it.format), text, keys),
    nextStep: ({ title }) => `Restart ${title}. It then runs without the bridge.`,
    afterwards: async (name) => {
      const remaining = await remainingEntries(CLIENTS[name], around);
      return { lines: remaining.map((entry) => remainingText(name, entry)), facts: { remaining } };
    },
  });
}

/** How a command changes the entry of any client. */
interface EntryChangeOptions {
  around: ClientEnvironment;
  decide: (client: McpClientProgram, text: string, keys: readonly string[]) => ConfigChange;
  /** Returns the text that the person sees after the change. */
  nextStep: (client: McpClientProgram, scope: ConfigScope) => string;
  /**
   * Returns what the person should know after the change, as lines of text and as facts for --json.
   * @param text the text of the client's file after the change
   */
  afterwards: (client: ClientName, text: string, keys: readonly string[]) => Promise<InstallReport>;
}

interface InstallReport {
  lines: readonly string[];
  facts: object;
}

/** `EntryChangeOptions`, with the scope and the name of the entry. */
interface EntryChange extends EntryChangeOptions {
  scope: ConfigScope;
  name: string;
}

/** Returns the client whose configuration changes. @throws UsageError */
function targetOf({ all }: InstallOptions, firstWord: string | undefined): ClientName | 'all' {
  const client = firstWord !== undefined && isClientName(firstWord) ? firstWord : undefined;
  if (all === true && client !== undefined) throw new UsageError('Name a client or use --all, not both.');
  if (all === true) return 'all';
  if (client === undefined) throw unknownClientError(firstWord);
  return client;
}

async function changeEntries(
  run: CommandRun<InstallOptions>,
  target: ClientName | 'all',
  work: EntryChangeOptions,
): Promise<number> {
  const { options, terminal } = run;
  const aim = readScopeAndName(options);
  const change = { ...work, ...aim };
  if (target !== 'all') {
    const outcome = await changeEntry(run, target, change);
    if (outcome.type === 'no such scope') throw unknownScopeError(target, aim.scope);
    terminal.json({ client: target, ...aim, ...bridgeEntryOutcomeFacts(outcome) });
    return outcome.type === 'declined' ? EXIT_FAILURE : 0;
  }
  const outcomes: { client: ClientName; outcome: BridgeEntryOutcome }[] = [];
  for (const client of CLIENT_NAMES)
    outcomes.push({ client, outcome: await changeIfInstalled(run, client, change) });
  const clients = outcomes.map(({ client, outcome }) => ({ client, ...bridgeEntryOutcomeFacts(outcome) }));
  terminal.json({ ...aim, clients });
  for (const { client, outcome } of outcomes)
    terminal.explain(bridgeEntryOutcomeLine(CLIENTS[client], aim.scope, outcome));
  return bridgeEntryOutcomesExitCode(outcomes.map(({ outcome }) => outcome));
}

async function changeIfInstalled(
  run: CommandRun<InstallOptions>,
  name: ClientName,
  change: EntryChange,
): Promise<BridgeEntryOutcome> {
  if (!(await isClientInstalled(CLIENTS[name], change.around))) return { type: 'not here' };
  try {
    return await changeEntry(run, name, change);
  } catch (error) {
    if (error instanceof ProductError) return { type: 'failed', error };
    throw error;
  }
}

/** Returns true if the client is on this machine: its program is in PATH, or its directory or settings file exists. */
async function isClientInstalled(
  { program, directory, places }: McpClientProgram,
  around: ClientEnvironment,
): Promise<boolean> {
  if (await programExists(program, around)) return true;
  // The settings file counts too, because `install claude` writes it beside the directory of Claude Code.
  const settings = await places.user?.(around);
  const traces = [directory(around), ...(settings === undefined ? [] : [settings.path])];
  const found = await Promise.allSettled(traces.map((path) => access(path)));
  return found.some(({ status }) => status === 'fulfilled');
}

/** Changes the entry of one client, and informs the person. The caller prints the outcome as JSON. */
async function changeEntry(
  run: CommandRun<InstallOptions>,
  clientName: ClientName,
  { scope, name, around, decide, nextStep, afterwards }: EntryChange,
): Promise<BridgeEntryOutcome> {
  const client: McpClientProgram = CLIENTS[clientName];
  const place = await client.places[scope]?.(around);
  if (place === undefined) return { type: 'no such scope' };
  const keys = [...place.section, name];
  const change = await planBridgeEntryChange(place.path, name, (text) => decide(client, text, keys));
  const { path } = change.file;
  const { explain } = run.terminal;
  const finish = async (text: string): Promise<object> => {
    const { lines, facts } = await afterwards(clientName, text, keys);
    for (const line of lines) explain(line);
    return facts;
  };
  if (change.type === 'same') {
    explain(`${path} is up to date: nothing to change.`);
    return { type: 'same', facts: { path, changed: false, ...(await finish(change.file.text)) } };
  }
  const { diff } = change;
  switch (await confirmChange(run, change)) {
    case 'dry run':
      explain('Nothing was written (--dry-run).');
      return { type: 'dry run', facts: { path, changed: false, dryRun: true, diff } };
    case 'declined':
      explain('Nothing was written.');
      return { type: 'declined', facts: { path, changed: false } };
    case 'confirmed': {
      const backup = await writeConfig(change.file, change.text, { fresh: MODES[scope] });
      explain(`Written to ${path}${backup === undefined ? '' : `; as it was before: ${backup}`}`);
      explain(nextStep(client, scope));
      return {
        type: 'written',
        facts: { path, changed: true, backup: backup ?? null, diff, ...(await finish(change.text)) },
      };
    }
  }
}

function remainingText(
  client: string,
  { scope, name, path }: Omit<BridgeEntry, 'started' | 'hazards'>,
): string {
  return `"${name}" in ${path} still starts the bridge. To remove it: mcp-a2a-bridge uninstall ${client} --scope ${scope} --name ${name}`;
}

/**
 * Returns the bridge's entries that remain. A file that cannot be read counts as empty, because the client cannot read
 * it either.
 */
async function remainingEntries(
  client: McpClientProgram,
  around: ClientEnvironment,
): Promise<readonly Omit<BridgeEntry, 'started' | 'hazards'>[]> {
  const entries = await findBridgeEntries(client, around, () => undefined);
  return entries.map(({ scope, name, path }) => ({ scope, name, path }));
}

/** Reads the options that select the entry. @throws UsageError */
function readScopeAndName({
  scope = 'user',
  name = DEFAULT_NAME,
}: InstallOptions): Pick<EntryChange, 'scope' | 'name'> {
  const found = readChoiceOption('scope', scope, CONFIG_SCOPES);
  if (!VALID_NAME.test(name)) throw new UsageError('A name has up to 64 letters, digits, "_" and "-".');
  return { scope: found, name };
}

function unknownClientError(name: string | undefined): UsageError {
  const names = CLIENT_NAMES.join(', ');
  return new UsageError(
    name === undefined
      ? `Name a client: ${names}. Or use --all.`
      : `There is no client "${name}" here. There are: ${names}.`,
  );
}

function unknownScopeError(name: ClientName, scope: ConfigScope): UsageError {
  const { title, places }: McpClientProgram = CLIENTS[name];
  const scopes = CONFIG_SCOPES.filter((each) => places[each] !== undefined).join(', ');
  return new UsageError(`${title} has no scope "${scope}". It has: ${scopes}.`);
}
