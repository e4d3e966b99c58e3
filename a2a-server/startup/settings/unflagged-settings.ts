/**
 * Declares the settings without a flag. A setting that is a table is too long for a command line. Tokens must not be in
 * a command line, because all users of the machine can read it.
 */
import { z } from 'zod';
import { defineSetting, withVariables } from '../../../shared/settings/resolve-settings.ts';
import { TOKEN_PATTERN } from '../../../shared/state/token-file.ts';
import { oidcSchema } from '../../access/oidc-settings.ts';
import { PRINCIPAL_PATTERN } from '../../access/requester.ts';
import { mcpServerConfigsSchema } from '../../mcp-servers/server-settings.ts';
import { MODEL_TABLE_SETTINGS } from '../../models/model-settings.ts';
import { chatWebhookSchema } from '../../push/chat-webhooks.ts';
import { rulesSchema } from '../../policy/rule.ts';

export const UNFLAGGED_SERVER_SETTINGS = withVariables('A2A_SERVER', {
  tokens: defineSetting({
    kind: 'list',
    schema: z
      .array(
        z
          .string()
          .transform((text) => ({
            principal: text.split('=', 1)[0] ?? '',
            token: text.slice(text.indexOf('=') + 1),
          }))
          .pipe(
            z.object({
              principal: z
                .string()
                .regex(PRINCIPAL_PATTERN, 'a name is made of letters, digits and . _ @ -, or is tenant/name'),
              token: z
                .string()
                .regex(TOKEN_PATTERN, 'a token has 20 to 512 characters A-Z a-z 0-9 . _ ~ + / -'),
            }),
          ),
      )
      .refine(
        (all) => new Set(all.map(({ token }) => token)).size === all.length,
        'two entries have the same token',
      ),
    fallback: [],
    describe: 'more principals and their tokens, besides "local" with the token in the state directory',
    allowed: 'name=token or tenant/name=token, separated by commas',
  }),
  weights: defineSetting({
    schema: z.record(z.string().regex(PRINCIPAL_PATTERN), z.number().positive()),
    fallback: {},
    describe:
      'weights of principals when tasks wait for their turn (default: 1 each); a principal with weight 2 runs twice as many tasks as one with weight 1',
    allowed: 'in the configuration file, {"principal": 2}',
  }),
  oidc: defineSetting({
    schema: oidcSchema,
    describe:
      'an OpenID Connect provider whose access tokens the server accepts, and that signs people in to the page (docs/access.md)',
    allowed: 'in the configuration file, {"issuer": …, "audience": …, "tenant": …, "roles": […]}',
  }),
  metricsToken: defineSetting({
    schema: z
      .string()
      .regex(TOKEN_PATTERN, 'a token has 20 to 512 characters A-Z a-z 0-9 . _ ~ + / -')
      .optional(),
    describe:
      'a token that can read /metrics and nothing else (default: only the local token can read /metrics)',
    allowed: '20 to 512 characters A-Z a-z 0-9 . _ ~ + / -',
  }),
  chatWebhooks: defineSetting({
    schema: z.array(chatWebhookSchema),
    fallback: [],
    describe: 'chats that get a message when a task waits for a person or has ended (docs/push.md)',
    allowed: 'in the configuration file, [{"format": "slack" | "teams" | "ntfy", "url": …}]',
  }),
  policy: defineSetting({
    schema: rulesSchema,
    fallback: [],
    describe: 'rules that allow, ask for or deny tool calls (docs/policies.md)',
    allowed:
      'in the configuration file, [{"action": "allow" | "ask" | "presence" | "deny", "tool": …, "path": …, "approver": …, …}] (docs/policies.md)',
  }),
  ...MODEL_TABLE_SETTINGS,
  mcpServers: defineSetting({
    schema: mcpServerConfigsSchema,
    fallback: {},
    describe: 'MCP servers whose tools the agent may call',
    allowed: 'in the configuration file, as described in docs/mcp-servers.md',
  }),
});
