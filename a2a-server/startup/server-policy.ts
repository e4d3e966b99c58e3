/** Builds the server's policy from the operator's rules and the trust in MCP servers. */
import { RESTORE_CHECKPOINT } from '../checkpoints/restore-checkpoint.ts';
import { trustedServers } from '../mcp-servers/trusted-servers.ts';
import { createPolicy, type Policy } from '../policy/policy.ts';
import type { ServerSettings } from './settings.ts';
import type { Tool } from '../tools/tool.ts';

export type NamedTools = readonly Tool[];

/** @throws ProductError CONFIGURATION for invalid rules, like `createPolicy` */
export function serverPolicy(
  { policy, mcpServers }: Pick<ServerSettings, 'policy' | 'mcpServers'>,
  tools: NamedTools,
): Policy {
  return createPolicy([...policy, ...trustedServers(mcpServers)], {
    tools: [...tools.map(({ name }) => name), RESTORE_CHECKPOINT],
  });
}

/** MCP servers that rules name but the settings do not. This is only a warning: a server may be added later. */
export function unknownMcpServers({
  policy,
  mcpServers,
}: Pick<ServerSettings, 'policy' | 'mcpServers'>): string[] {
  const named = policy.flatMap(({ server = [] }) => server).filter((name) => !/[*?[{(]/u.test(name));
  return [...new Set(named)].filter((name) => !Object.hasOwn(mcpServers, name));
}
