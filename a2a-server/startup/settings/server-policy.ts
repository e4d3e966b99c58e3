import { issuedTokenState, type IssuedTokenRecord } from '../../access/issued-token.ts';
import { relyingPartyOf } from '../../presence/relying-party.ts';
import { RESTORE_CHECKPOINT } from '../../checkpoints/restore-checkpoint-tool.ts';
import { createPolicy, type Policy } from '../../policy/create-policy.ts';
import type { ServerSettings } from './settings.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Rule } from '../../policy/rule.ts';
import type { McpServerConfigs } from '../../mcp-servers/server-settings.ts';

/**
 * Builds the server's policy from the operator's rules, the `trust` settings of MCP servers and `fourEyes`.
 * @throws ProductError CONFIGURATION if a rule is invalid
 */
export function serverPolicy(
  { policy, mcpServers, fourEyes }: Pick<ServerSettings, 'policy' | 'mcpServers' | 'fourEyes'>,
  tools: readonly Tool[],
): Policy {
  return createPolicy([...policy, ...trustedServerRules(mcpServers)], {
    tools: [...tools.map(({ name }) => name), RESTORE_CHECKPOINT],
    fourEyes,
  });
}

/**
 * Returns the MCP servers that rules name and that are not in the settings. The server only warns about them, because
 * the operator may add them later.
 */
export function unknownMcpServers({
  policy,
  mcpServers,
}: Pick<ServerSettings, 'policy' | 'mcpServers'>): string[] {
  const named = policy.flatMap(({ server = [] }) => server).filter((name) => !/[*?[{(]/u.test(name));
  return [...new Set(named)].filter((name) => !Object.hasOwn(mcpServers, name));
}

/**
 * Returns the groups that rules demand of an approver, but that have no member. A group has a member if an active token
 * with the role `approve`, or a rule for a provider's claims, gives the group.
 * @param now milliseconds since 1970
 */
export function groupsWithoutMembers(
  { policy, oidc }: Pick<ServerSettings, 'policy' | 'oidc'>,
  tokens: readonly IssuedTokenRecord[],
  now: number,
): string[] {
  const demanded = policy.flatMap(({ approver }) => approver?.group ?? []);
  const approving = tokens.filter(
    (token) => issuedTokenState(token, now) === 'active' && token.roles.includes('approve'),
  );
  const given = new Set([
    ...approving.flatMap(({ groups = [] }) => groups),
    ...(oidc?.groups ?? []).flatMap(({ groups }) => groups),
  ]);
  return [...new Set(demanded)].filter((group) => !given.has(group));
}

/** Returns `allow` rules for the MCP servers whose settings contain `trust`. `ask` and `deny` rules have precedence. */
export function trustedServerRules(settings: McpServerConfigs): Rule[] {
  return Object.entries(settings)
    .filter(([, { trust, disabled }]) => trust && !disabled)
    .map(([name]) => ({ action: 'allow', server: [name], comment: '"trust" in its settings' }));
}

/**
 * Returns the problem if a rule demands presence, but passkeys do not work at the server's address. No person could
 * then approve such a tool call.
 * @param base the server's URL for clients
 */
export function presencePolicyProblem(policy: Policy, base: string): string | undefined {
  const party = relyingPartyOf(base);
  if (party.type === 'usable' || policy.rules.every(({ action }) => action !== 'presence')) return undefined;
  return `a rule demands presence, but no person can approve its calls: ${party.problem}`;
}
