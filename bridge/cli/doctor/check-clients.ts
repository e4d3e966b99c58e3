/** Checks which MCP clients start the bridge, and whether their entries work. */
import { access, constants } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../shared/runtime/file-problem.ts';
import { type BridgeEntry, findBridgeEntries } from '../clients/bridge-entries.ts';
import { type BridgePlugin, findBridgePlugin } from '../clients/bridge-plugin.ts';
import type { ClientEnvironment, McpClientProgram } from '../clients/client.ts';
import { type ClientName, CLIENTS, isClientName } from '../clients/clients.ts';
import { programExists } from '../../../shared/runtime/find-program.ts';
import { serveArgumentsProblem } from '../../settings/serve-arguments.ts';
import { isPackageRunnerCopy } from '../clients/start-command.ts';
import { checkDoubledEntries } from './doubled-entries.ts';
import {
  failCheckResult,
  type CheckResult,
  okCheckResult,
  warnCheckResult,
} from '../../../shared/runtime/check-result.ts';

const REMOVE = 'Remove this key, and run mcp-a2a-bridge install again for this client.';
const NEXT = 'Run mcp-a2a-bridge install again for this client.';

export async function checkClients(around: ClientEnvironment): Promise<readonly CheckResult[]> {
  const findings: CheckResult[] = [];
  for (const name of Object.keys(CLIENTS).filter(isClientName))
    findings.push(...(await checkClient(name, around)));
  if (findings.length > 0) return findings;
  return [
    warnCheckResult(
      'clients',
      'no MCP client of this user or directory starts the bridge',
      `Run: mcp-a2a-bridge install <client>, where <client> is one of: ${Object.keys(CLIENTS).join(', ')}`,
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
      failCheckResult(
        `${client.title}, ${scope}`,
        // A ProductError already names the file.
        error instanceof ProductError ? error.message : `${path} cannot be read: ${fileProblem(error)}`,
        'Correct it: the client cannot read it either.',
      ),
    ),
  );
  const findings = entries.map(async (entry) =>
    checkEntry(
      { subject: `${client.title}, ${entry.scope}`, where: `"${entry.name}" in ${entry.path}` },
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
  const subject = `${CLIENTS[clientName].title}, plugin`;
  const where = `"${plugin.name}" in ${plugin.path}`;
  if (entry === undefined) return okCheckResult(subject, where);
  return warnCheckResult(
    subject,
    `${where} and "${entry.name}" in ${entry.path} both start the bridge. The client may show each tool twice`,
    `Remove the plugin, or run: mcp-a2a-bridge uninstall ${clientName} --scope ${entry.scope} --name ${entry.name}`,
  );
}

async function checkEntry(
  { subject, where }: { subject: string; where: string },
  { started: { command, args }, hazards }: BridgeEntry,
  around: ClientEnvironment,
): Promise<readonly CheckResult[]> {
  if (!(await programExists(command, around)))
    return [failCheckResult(subject, `${where} starts ${command}, which is not there`, NEXT)];
  const script = args.find((each) => each.endsWith('.js') && isAbsolute(each));
  if (script !== undefined && !(await isReadable(script)))
    return [failCheckResult(subject, `${where} starts ${script}, which is not there`, NEXT)];
  if (script !== undefined && isPackageRunnerCopy(script))
    return [
      warnCheckResult(subject, `${where} starts ${script}, a temporary copy that may be deleted`, NEXT),
    ];
  const problem =
    script === undefined ? undefined : serveArgumentsProblem(args.slice(args.indexOf(script) + 1));
  if (problem !== undefined)
    return [
      failCheckResult(
        subject,
        `${where} cannot start the bridge: ${problem}`,
        'Correct the arguments in this entry.',
      ),
    ];
  if (hazards.length === 0) return [okCheckResult(subject, where)];
  return hazards.map((hazard) => warnCheckResult(subject, `${where}: ${hazard}`, REMOVE));
}

function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}
