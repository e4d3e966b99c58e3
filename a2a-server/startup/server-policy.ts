/** The policy of a server with its settings: the operator's rules, and the trust given to MCP servers. */
import { RESTORE_CHECKPOINT } from '../checkpoints/restore-checkpoint.ts';
import { trustedServers } from '../mcp-servers/trusted-servers.ts';
import { createPolicy, type Policy } from '../policy/policy.ts';
import type { ServerSettings } from './settings.ts';
import type { Tool } from '../tools/tool.ts';

export type NamedTools = readonly Tool[];

/** @throws ProductError CONFIGURATION for rules that cannot be used, as `createPolicy` */
export function serverPolicy(
  { policy, mcpServers }: Pick<ServerSettings, 'policy' | 'mcpServers'>,
  tools: NamedTools,
): Policy {
  return createPolicy([...policy, ...trustedServers(mcpServers)], {
    tools: [...tools.map(({ name }) => name), RESTORE_CHECKPOINT],
  });
}

/** MCP servers that rules name and nobody has configured: no more than a hint, for a server may come later. */
export function unknownServers({
  policy,
  mcpServers,
}: Pick<ServerSettings, 'policy' | 'mcpServers'>): string[] {
  const named = policy.flatMap(({ server = [] }) => server).filter((name) => !/[*?[{(]/u.test(name));
  return [...new Set(named)].filter((name) => !Object.hasOwn(mcpServers, name));
}
