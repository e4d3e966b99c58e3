/** Checks which MCP clients start the bridge, and whether their entries work. */
import { access, constants } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../shared/runtime/file-problem.ts';
import { type BridgeEntry, findBridgeEntries } from '../clients/bridge-entries.ts';
import { type BridgePlugin, findBridgePlugin } from '../clients/bridge-plugin.ts';
import type { ClientEnvironment, McpClientProgram } from '../clients/client.ts';
import { CLIENT_NAMES, type ClientName, CLIENTS } from '../clients/clients.ts';
import { programExists } from '../../../shared/runtime/find-program.ts';
import { serveArgumentsProblem } from '../../settings/serve-arguments.ts';
import { isPackageRunnerCopy } from '../clients/start-command.ts';
import { type CheckResult, type CheckResults, checkResults } from '../../../shared/runtime/check-result.ts';

const REMOVE = 'Remove this key, and run mcp-a2a-bridge install again for this client.';
const NEXT = 'Run mcp-a2a-bridge install again for this client.';

export async function checkClients(around: ClientEnvironment): Promise<readonly CheckResult[]> {
  const findings: CheckResult[] = [];
  for (const name of CLIENT_NAMES) findings.push(...(await checkClient(name, around)));
  if (findings.length > 0) return findings;
  return [
    checkResults('clients').warn(
      'no MCP client of this user or directory starts the bridge',
      `Run: mcp-a2a-bridge install <client>, where <client> is one of: ${CLIENT_NAMES.join(', ')}`,
    ),
  ];
}

async function checkClient(
  clientName: ClientName,
  around: ClientEnvironment,
): Promise<readonly CheckResult[]> {
  const client: McpClientProgram = CLIENTS[clientName];
  const unreadable: CheckResult[] = [];
  const entries = await findBridgeEntries(client, around, (scope, path, error) =>
    unreadable.push(
      checkResults(`${client.title}, ${scope}`).fail(
        // A ProductError already names the file.
        error instanceof ProductError ? error.message : `${path} cannot be read: ${fileProblem(error)}`,
        'Correct it: the client cannot read it either.',
      ),
    ),
  );
  const findings = entries.map(async (entry) =>
    checkEntry(
      { results: checkResults(`${client.title}, ${entry.scope}`), where: `"${entry.name}" in ${entry.path}` },
      entry,
      around,
    ),
  );
  const plugin = await findBridgePlugin(client, around);
  return [
    ...(await Promise.all(findings)).flat(),
    ...unreadable,
    ...(plugin === undefined ? [] : [pluginFinding(clientName, plugin, entries)]),
    ...checkDoubledEntries(clientName, entries),
  ];
}

function pluginFinding(
  clientName: ClientName,
  plugin: BridgePlugin,
  [entry]: readonly BridgeEntry[],
): CheckResult {
  const results = checkResults(`${CLIENTS[clientName].title}, plugin`);
  const where = `"${plugin.name}" in ${plugin.path}`;
  if (entry === undefined) return results.ok(where);
  return results.warn(
    `${where} and "${entry.name}" in ${entry.path} both start the bridge. The client may show each tool twice`,
    `Remove the plugin, or run: mcp-a2a-bridge uninstall ${clientName} --scope ${entry.scope} --name ${entry.name}`,
  );
}

async function checkEntry(
  { results, where }: { results: CheckResults; where: string },
  { started: { command, args }, hazards }: BridgeEntry,
  around: ClientEnvironment,
): Promise<readonly CheckResult[]> {
  if (!(await programExists(command, around)))
    return [results.fail(`${where} starts ${command}, which is not there`, NEXT)];
  const script = args.find((each) => each.endsWith('.js') && isAbsolute(each));
  if (script !== undefined && !(await isReadable(script)))
    return [results.fail(`${where} starts ${script}, which is not there`, NEXT)];
  if (script !== undefined && isPackageRunnerCopy(script))
    return [results.warn(`${where} starts ${script}, a temporary copy that may be deleted`, NEXT)];
  const problem =
    script === undefined ? undefined : serveArgumentsProblem(args.slice(args.indexOf(script) + 1));
  if (problem !== undefined)
    return [
      results.fail(`${where} cannot start the bridge: ${problem}`, 'Correct the arguments in this entry.'),
    ];
  if (hazards.length === 0) return [results.ok(where)];
  return hazards.map((hazard) => results.warn(`${where}: ${hazard}`, REMOVE));
}

function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

const PREFIX_FLAG = '--tool-prefix';

/**
 * Returns a check result for each entry that collides with an earlier one.
 * @param entries the entries, those of the widest scope first. If two entries have the same name, the client starts the
 * later one.
 */
function checkDoubledEntries(client: ClientName, entries: readonly BridgeEntry[]): readonly CheckResult[] {
  return entries.flatMap((entry, at) => {
    const earlier = entries.slice(0, at).find((other) => haveCollision(other, entry));
    return earlier === undefined ? [] : [collisionResult(client, earlier, entry)];
  });
}

/**
 * Returns true if the client would get the same tool names twice, or would start only one of the entries. Entries with
 * different tool prefixes do not collide.
 */
function haveCollision(one: BridgeEntry, other: BridgeEntry): boolean {
  return one.name === other.name || prefixOf(one) === prefixOf(other);
}

function collisionResult(client: ClientName, one: BridgeEntry, other: BridgeEntry): CheckResult {
  const results = checkResults(`${CLIENTS[client].title}, ${one.scope} and ${other.scope}`);
  const remove = `Remove one of them, e.g. with: mcp-a2a-bridge uninstall ${client} --scope ${other.scope} --name ${other.name}`;
  if (one.name !== other.name)
    return results.fail(
      `"${one.name}" in ${one.path} and "${other.name}" in ${other.path} both start the bridge, with the same tool names`,
      remove,
    );
  const where = `"${one.name}" is in ${one.path} and in ${other.path}`;
  return isDeepStrictEqual(one.started, other.started)
    ? results.warn(`${where}; both start the same bridge`, remove)
    : results.fail(`${where}, and they differ; in this directory the client uses the second one`, remove);
}

function prefixOf({ started: { args, env } }: BridgeEntry): unknown {
  const at = args.indexOf(PREFIX_FLAG);
  const joined = args.find((each) => each.startsWith(`${PREFIX_FLAG}=`))?.slice(PREFIX_FLAG.length + 1);
  return (at < 0 ? joined : args[at + 1]) ?? env['MCP_A2A_BRIDGE_TOOL_PREFIX'] ?? '';
}
