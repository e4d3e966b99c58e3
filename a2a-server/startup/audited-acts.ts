/** The administrative actions that the server itself writes to the audit log: its configuration, and grants. */
import type { NewAuditRecord } from '../audit/audit-record.ts';
import { readPackageVersion } from '../../shared/runtime/version.ts';
import type { JournalEntry } from '../task/events.ts';
import { limitsFromSettings } from './settings/limit-settings.ts';
import type { ServerSettings } from './settings/settings.ts';

/**
 * The settings that concern access, approvals and limits. Only `oidc` can contain a secret, which `withoutSecretSource`
 * leaves out.
 */
const AUDITED = [
  'host',
  'port',
  'publicUrl',
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
  'weights',
] as const satisfies readonly (keyof ServerSettings)[];

/**
 * Returns the audit record of a server start with these settings, or of a change to these settings while the server
 * runs.
 */
export function configurationAuditAct(
  act: 'server.started' | 'server.reloaded',
  settings: ServerSettings,
): NewAuditRecord {
  return { act, version: readPackageVersion(), configuration: auditedConfiguration(settings) };
}

/** Returns the audit records for these events: one for each new grant, and one for each revocation of grants. */
export function grantAuditActs(taskId: string, entries: readonly JournalEntry[]): NewAuditRecord[] {
  return entries.flatMap(({ event }): NewAuditRecord[] => {
    if (event.type === 'tool.decided' && event.scope !== 'once') {
      const { callId, tool, scope, by } = event;
      return [{ act: 'grant.given', taskId, callId, tool, scope, ...toActor(by) }];
    }
    if (event.type === 'grant.revoked')
      return [{ act: 'grant.revoked', taskId, grantIds: event.grantIds, ...toActor(event.by) }];
    return [];
  });
}

function auditedConfiguration(settings: ServerSettings): Record<string, unknown> {
  const plain: unknown = JSON.parse(
    JSON.stringify({
      ...Object.fromEntries(AUDITED.map((name) => [name, settings[name]])),
      oidc: withoutSecretSource(settings.oidc),
      limits: limitsFromSettings(settings),
      // Only the names are recorded. A token, and the arguments of an agent or of an MCP server, may be secret.
      tokens: settings.tokens.map(({ principal }) => principal),
      agent: settings.agent.type,
      mcpServers: Object.keys(settings.mcpServers),
    }),
  );
  return Object.fromEntries(Object.entries(Object(plain)));
}

/** Leaves out how the server reads the client's secret, because the arguments of a command may be secret. */
function withoutSecretSource(oidc: ServerSettings['oidc']): unknown {
  if (oidc?.signIn?.clientSecret === undefined) return oidc;
  return { ...oidc, signIn: { ...oidc.signIn, clientSecret: 'configured' } };
}

function toActor({ principal, channel }: { principal: string; channel: string }) {
  return { principal, channel };
}
