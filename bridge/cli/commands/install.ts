/** `install` and `uninstall`: change an MCP client's configuration, and show the diff before writing. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { visibleText } from '../../../shared/text/visible-text.ts';
import { type McpClient, type Scope, SCOPES, clientEnvironment } from '../clients/client.ts';
import { type BridgeEntry, bridgeEntries } from '../clients/bridge-entries.ts';
import { CLIENTS, isClientName } from '../clients/clients.ts';
import { type ConfigFile, readConfig, unusableConfigError, writeConfig } from '../clients/config-file.ts';
import { type ConfigChange, configText, withBridge, withoutBridge } from '../clients/config-text.ts';
import { EXIT_FAILURE, UsageError } from '../terminal/exit-codes.ts';
import type { CommonOptions, CommandRun } from '../context/run-command.ts';
import { paintDiff } from '../terminal/paint.ts';

interface InstallOptions extends CommonOptions {
  scope?: string;
  name?: string;
  dryRun?: boolean;
  yes?: boolean;
}

const NAME = 'a2a-bridge';
const NAMES = /^[A-Za-z0-9_-]{1,64}$/;
/** The permissions of new files. Other users may read the project's file, but not the user's own files. */
const MODES: Readonly<Record<Scope, number>> = { user: 0o600, project: 0o644, local: 0o600 };

/**
 * Adds the bridge to a client's configuration.
 * @param args arguments for the bridge, written into the entry
 * @throws ProductError CONFIGURATION; UsageError
 */
export async function install(
  run: CommandRun<InstallOptions>,
  client: string,
  args: readonly string[],
): Promise<number> {
  const { bridgeScript } = run.places;
  // The entry contains the path of the current Node. A client that was started from the desktop may find no Node, or an
  // older one.
  const command = { command: process.execPath, args: [bridgeScript, ...args] };
  return change(run, client, {
    decide: (it, text, keys) =>
      withBridge(configText(it.format), text, {
        keys,
        entry: it.entry(command),
        ...(it.defaults && { defaults: it.defaults }),
      }),
    words: ({ nextStep }) => nextStep,
  });
}

/**
 * Removes the bridge from a client's configuration.
 * @throws ProductError CONFIGURATION; UsageError
 */
export async function uninstall(run: CommandRun<InstallOptions>, client: string): Promise<number> {
  return change(run, client, {
    decide: (it, text, keys) => withoutBridge(configText(it.format), text, keys),
    words: ({ title }) => `${title} does without it from its next start on.`,
    others: true,
  });
}

interface Work {
  decide: (client: McpClient, text: string, keys: readonly string[]) => ConfigChange;
  /** Returns the text that the person sees after the change. */
  words: (client: McpClient) => string;
  /** True if the text must also name other entries of the bridge that remain. */
  others?: boolean;
}

async function change(
  run: CommandRun<InstallOptions>,
  clientName: string,
  { decide, words: done, others = false }: Work,
): Promise<number> {
  const { options, terminal } = run;
  const { client, scope, name } = meant(clientName, options);
  const place = await client.places[scope]?.(clientEnvironment());
  if (place === undefined)
    throw new UsageError(
      `${client.title} has no scope "${scope}". It has: ${SCOPES.filter((each) => client.places[each] !== undefined).join(', ')}.`,
    );
  const file = await readConfig(place.path);
  const changed = judged(file, name, () => decide(client, file.text, [...place.section, name]));
  const diff = changed.type === 'same' ? '' : diffOf(file, changed.text);
  const tell = (facts: object, words: () => void): void =>
    options.json === true
      ? terminal.say(JSON.stringify({ client: clientName, scope, name, path: file.path, ...facts }))
      : words();
  if (changed.type === 'same') {
    const remaining = others ? await remainingEntries(client) : [];
    tell({ changed: false, ...(others && { remaining }) }, () => {
      terminal.say(`${file.path} is as it should be: nothing to change.`);
      for (const entry of remaining) terminal.say(remainingText(clientName, entry));
    });
    return 0;
  }
  if (options.json !== true) terminal.say(paintDiff(visibleText(diff), terminal.paint));
  if (options.dryRun === true) {
    tell({ changed: false, dryRun: true, diff }, () => terminal.say('Nothing was written (--dry-run).'));
    return 0;
  }
  const asks = terminal.interactive && options.yes !== true && options.json !== true;
  if (asks && !(await terminal.confirm(`Write this to ${file.path}?`))) {
    terminal.say('Nothing was written.');
    return EXIT_FAILURE;
  }
  const backup = await writeConfig(file, changed.text, MODES[scope]);
  const remaining = others ? await remainingEntries(client) : [];
  tell({ changed: true, backup: backup ?? null, diff, ...(others && { remaining }) }, () => {
    terminal.say(`Written to ${file.path}${backup === undefined ? '' : `; as it was before: ${backup}`}`);
    terminal.say(done(client));
    for (const entry of remaining) terminal.say(remainingText(clientName, entry));
  });
  return 0;
}

function remainingText(client: string, { scope, name, path }: Omit<BridgeEntry, 'started'>): string {
  return `"${name}" in ${path} still starts the bridge. To remove it: mcp-a2a-bridge uninstall ${client} --scope ${scope} --name ${name}`;
}

/**
 * Returns entries of the bridge that remain. An unreadable file counts as empty, because its client cannot read it
 * either.
 */
async function remainingEntries(client: McpClient): Promise<readonly Omit<BridgeEntry, 'started'>[]> {
  const entries = await bridgeEntries(client, clientEnvironment(), () => undefined);
  return entries.map(({ scope, name, path }) => ({ scope, name, path }));
}

function meant(clientName: string, { scope = 'user', name = NAME }: InstallOptions) {
  if (!isClientName(clientName))
    throw new UsageError(
      `There is no client "${clientName}" here. There are: ${Object.keys(CLIENTS).join(', ')}.`,
    );
  const found = SCOPES.find((each) => each === scope);
  if (found === undefined)
    throw new UsageError(`There is no scope "${scope}". The scopes are: ${SCOPES.join(', ')}.`);
  if (!NAMES.test(name)) throw new UsageError('A name has up to 64 letters, digits, "_" and "-".');
  const client: McpClient = CLIENTS[clientName];
  return { client, scope: found, name };
}

/** @throws ProductError CONFIGURATION for an unreadable file, or for a name that another server uses */
function judged(
  file: ConfigFile,
  name: string,
  decide: () => ConfigChange,
): Exclude<ConfigChange, { type: 'taken' }> {
  let changed: ConfigChange;
  try {
    changed = decide();
  } catch (error) {
    if (error instanceof ProductError) throw error;
    throw unusableConfigError(file.path, `${messageOf(error)}. Put it right, then run this again`, error);
  }
  if (changed.type === 'taken')
    throw unusableConfigError(
      file.path,
      `"${name}" is another server there. Choose another name with --name`,
    );
  return changed;
}

function diffOf({ path, text, mode }: ConfigFile, after: string): string {
  return createTwoFilesPatch(
    mode === undefined ? '/dev/null' : path,
    path,
    text,
    after,
    undefined,
    undefined,
    {
      headerOptions: FILE_HEADERS_ONLY,
    },
  ).trimEnd();
}
