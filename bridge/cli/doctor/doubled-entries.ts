/** Finds two entries in one client's configuration that start the bridge with the same tool names. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { type CheckResult, failCheckResult, warnCheckResult } from '../../../shared/runtime/check-result.ts';
import type { BridgeEntry } from '../clients/bridge-entries.ts';
import { type ClientName, CLIENTS } from '../clients/clients.ts';

const FLAG = '--tool-prefix';

/**
 * Returns a check result for each entry that collides with an earlier one.
 * @param entries the entries, those of the widest scope first. If two entries have the same name, the client starts the
 * later one.
 */
export function checkDoubledEntries(
  client: ClientName,
  entries: readonly BridgeEntry[],
): readonly CheckResult[] {
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
  const subject = `${CLIENTS[client].title}, ${one.scope} and ${other.scope}`;
  const remove = `Remove one of them, e.g. with: mcp-a2a-bridge uninstall ${client} --scope ${other.scope} --name ${other.name}`;
  if (one.name !== other.name)
    return failCheckResult(
      subject,
      `"${one.name}" in ${one.path} and "${other.name}" in ${other.path} both start the bridge, with the same tool names`,
      remove,
    );
  const where = `"${one.name}" is in ${one.path} and in ${other.path}`;
  return isDeepStrictEqual(one.started, other.started)
    ? warnCheckResult(subject, `${where}; both start the same bridge`, remove)
    : failCheckResult(
        subject,
        `${where}, and they differ; in this directory the client uses the second one`,
        remove,
      );
}

function prefixOf({ started: { args, env } }: BridgeEntry): unknown {
  const at = args.indexOf(FLAG);
  const joined = args.find((each) => each.startsWith(`${FLAG}=`))?.slice(FLAG.length + 1);
  return (at < 0 ? joined : args[at + 1]) ?? env['MCP_A2A_BRIDGE_TOOL_PREFIX'] ?? '';
}
