/** Turns the `trust` setting of MCP servers into policy rules. */
import type { Rule } from '../policy/rule.ts';
import type { McpServerSettings } from './server-settings.ts';

/** Like the decision `trust_server`, for every task. Rules that ask or deny have precedence. */
export function trustedServers(settings: McpServerSettings): Rule[] {
  return Object.entries(settings)
    .filter(([, { trust, disabled }]) => trust && !disabled)
    .map(([name]) => ({ action: 'allow', server: [name], comment: '"trust" in its settings' }));
}
