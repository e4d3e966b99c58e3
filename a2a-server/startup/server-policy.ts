/** Builds the server's policy from the operator's rules and the trust in MCP servers. */
import { RESTORE_CHECKPOINT } from '../checkpoints/restore-checkpoint.ts';
import { createPolicy, type Policy } from '../policy/prepare-rules.ts';
import type { ServerSettings } from './settings.ts';
import type { Tool } from '../tools/tool.ts';
import type { Rule } from '../policy/rule.ts';
import type { McpServerSettings } from '../mcp-servers/server-settings.ts';

type NamedTools = readonly Tool[];

/** @throws ProductError CONFIGURATION for invalid rules, like `createPolicy` */
export function serverPolicy(
  { policy, mcpServers }: Pick<ServerSettings, 'policy' | 'mcpServers'>,
  tools: NamedTools,
): Policy {
  return createPolicy([...policy, ...trustedServers(mcpServers)], {
    tools: [...tools.map(({ name }) => name), RESTORE_CHECKPOINT],
  });
}

/**
 * Returns the MCP servers that rules name but the settings do not. The server only warns about them, because the
 * operator may add them later.
 */
export function unknownMcpServers({
  policy,
  mcpServers,
}: Pick<ServerSettings, 'policy' | 'mcpServers'>): string[] {
  const named = policy.flatMap(({ server = [] }) => server).filter((name) => !/[*?[{(]/u.test(name));
  return [...new Set(named)].filter((name) => !Object.hasOwn(mcpServers, name));
}

/**
 * Returns rules with the effect of the decision `trust_server` for each task. `ask` and `deny` rules have precedence.
 */
export function trustedServers(settings: McpServerSettings): Rule[] {
  return Object.entries(settings)
    .filter(([, { trust, disabled }]) => trust && !disabled)
    .map(([name]) => ({ action: 'allow', server: [name], comment: '"trust" in its settings' }));
}
