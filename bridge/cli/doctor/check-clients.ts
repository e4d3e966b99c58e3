/** Checks the MCP clients' configurations: which of them start the bridge, and whether they can. */
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../shared/runtime/errors.ts';
import { type McpClient, SCOPES, type ClientEnvironment } from '../clients/client.ts';
import { type ClientName, CLIENTS, isClientName } from '../clients/clients.ts';
import { readConfig } from '../clients/config-file.ts';
import { configText, isBridge } from '../clients/config-text.ts';
import { type BridgeEntry, doubledEntries } from './doubled-entries.ts';
import { fail, type CheckResult, ok, warn } from '../../../shared/runtime/check-result.ts';

const servers = z.record(z.string(), z.unknown());
const started = z.looseObject({ command: z.string(), args: z.array(z.string()).default([]) });

const NEXT = 'Run mcp-a2a-bridge install again for this client.';

export async function checkClients(around: ClientEnvironment): Promise<readonly CheckResult[]> {
  const findings: CheckResult[] = [];
  for (const name of Object.keys(CLIENTS).filter(isClientName))
    findings.push(...(await checkClient(name, around)));
  if (findings.length > 0) return findings;
  return [
    warn(
      'clients',
      'no MCP client of this user or directory starts the bridge',
      `Run one of: ${Object.keys(CLIENTS)
        .map((name) => `mcp-a2a-bridge install ${name}`)
        .join(', ')}`,
    ),
  ];
}

async function checkClient(
  clientName: ClientName,
  around: ClientEnvironment,
): Promise<readonly CheckResult[]> {
  const client: McpClient = CLIENTS[clientName];
  const findings: CheckResult[] = [];
  const entries: BridgeEntry[] = [];
  const seen = new Set<string>();
  for (const scope of SCOPES) {
    const place = await client.places[scope]?.(around);
    // In the home directory, a project's file may be the user's own file.
    if (place === undefined || seen.has(JSON.stringify(place))) continue;
    seen.add(JSON.stringify(place));
    const subject = `${client.title}, ${scope}`;
    try {
      const { text, path } = await readConfig(place.path);
      const found = servers.safeParse(configText(client.format).read(text, place.section)).data ?? {};
      for (const [name, entry] of Object.entries(found))
        if (isBridge(entry)) {
          findings.push(await checkEntry(subject, `"${name}" in ${path}`, entry, around));
          entries.push({ scope, name, path, entry });
        }
    } catch (error) {
      findings.push(
        fail(
          subject,
          `${place.path} cannot be read: ${messageOf(error)}`,
          'Correct it: the client cannot read it either.',
        ),
      );
    }
  }
  findings.push(...doubledEntries(clientName, entries));
  return findings;
}

async function checkEntry(
  subject: string,
  where: string,
  entry: unknown,
  { env }: ClientEnvironment,
): Promise<CheckResult> {
  const { command, args } = started.parse(entry);
  if (!(await findable(command, env)))
    return fail(subject, `${where} starts ${command}, which is not there`, NEXT);
  const script = args.find((each) => each.endsWith('.js') && isAbsolute(each));
  if (script !== undefined && !(await exists(script, constants.R_OK)))
    return fail(subject, `${where} starts ${script}, which is not there`, NEXT);
  return ok(subject, where);
}

async function findable(command: string, env: ClientEnvironment['env']): Promise<boolean> {
  if (/[\\/]/.test(command)) return exists(command, constants.X_OK);
  const endings = process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD').split(';')] : [''];
  for (const directory of (env['PATH'] ?? '').split(delimiter))
    for (const ending of endings)
      if (directory !== '' && (await exists(join(directory, command + ending), constants.X_OK))) return true;
  return false;
}

function exists(path: string, how: number): Promise<boolean> {
  return access(path, how).then(
    () => true,
    () => false,
  );
}
