/** The acts that the server itself writes to the audit record: its configuration at the start, and grants. */
import { isDeepStrictEqual } from 'node:util';
import type { AuditLog } from '../audit/audit-log.ts';
import type { AuditAct } from '../audit/audit-record.ts';
import type { JournalEntry } from '../task/events.ts';
import type { ServerSettings } from './settings.ts';

/** Settings that concern access and approvals. None of them can contain a secret. */
const AUDITED = [
  'host',
  'port',
  'publicHost',
  'allowOrigin',
  'workspace',
  'allowWorkspace',
  'mode',
  'fourEyes',
  'policy',
  'oidc',
  'passEnv',
  'confineShell',
  'shellNetwork',
  'allowPrivateHost',
  'model',
  'decisionTimeout',
  'retention',
  'metrics',
] as const satisfies readonly (keyof ServerSettings)[];

/** Records the start. The record names the settings that have changed since the last start. */
export async function auditStart(
  audit: AuditLog,
  { settings, version, now }: { settings: ServerSettings; version: string; now: number },
): Promise<void> {
  const configuration = auditedConfiguration(settings);
  const { records } = await audit.read();
  const earlier = records.findLast((record) => record.act === 'server.started');
  const changed =
    earlier?.act === 'server.started' ? changes(earlier.configuration, configuration) : undefined;
  await audit.append({ act: 'server.started', version, configuration, ...(changed && { changed }) }, now);
}

/** Returns the acts in these events: grants, and their ends. */
export function auditedActs(taskId: string, entries: readonly JournalEntry[]): AuditAct[] {
  return entries.flatMap(({ event }): AuditAct[] => {
    if (event.type === 'tool.decided' && event.scope !== 'once') {
      const { callId, tool, scope, by } = event;
      return [{ act: 'grant.given', taskId, callId, tool, scope, ...named(by) }];
    }
    if (event.type === 'grant.revoked')
      return [{ act: 'grant.revoked', taskId, grantIds: event.grantIds, ...named(event.by) }];
    return [];
  });
}

function auditedConfiguration(settings: ServerSettings): Record<string, unknown> {
  const plain: unknown = JSON.parse(
    JSON.stringify({
      ...Object.fromEntries(AUDITED.map((name) => [name, settings[name]])),
      // A token, and the arguments of an agent or of an MCP server, may be secret.
      tokens: settings.tokens.map(({ principal }) => principal),
      agent: settings.agent.type,
      mcpServers: Object.keys(settings.mcpServers),
    }),
  );
  return Object.fromEntries(Object.entries(Object(plain)));
}

function changes(before: Record<string, unknown>, now: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], now[name]));
}

function named({ principal, channel }: { principal: string; channel: string }) {
  return { principal, channel };
}
