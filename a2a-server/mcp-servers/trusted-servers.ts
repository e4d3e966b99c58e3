/** Trust given to MCP servers in their settings, as the rules of policy that it amounts to. */
import type { Rule } from '../policy/rule.ts';
import type { McpServerSettings } from './server-settings.ts';

/** As after the decision `trust_server`, for every task: a rule that asks or denies goes first. */
export function trustedServers(settings: McpServerSettings): Rule[] {
  return Object.entries(settings)
    .filter(([, { trust, disabled }]) => trust && !disabled)
    .map(([name]) => ({ action: 'allow', server: [name], comment: '"trust" in its settings' }));
}
