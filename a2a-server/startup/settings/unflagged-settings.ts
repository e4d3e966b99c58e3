/**
 * Declares the settings without a flag. A setting that is a table is too long for a command line. Tokens must not be in
 * a command line, because all users of the machine can read it.
 */
import { z } from 'zod';
import { defineSetting, withVariables } from '../../../shared/settings/resolve-settings.ts';
import { FILE_MEDIA_TYPES } from '../../../shared/protocol/attached-file.ts';
import { TOKEN_PATTERN } from '../../../shared/state/token-file.ts';
import { oidcSchema } from '../../access/oidc-settings.ts';
import { PRINCIPAL_PATTERN } from '../../access/requester.ts';
import { mcpServerConfigsSchema } from '../../mcp-servers/server-settings.ts';
import { DEFAULT_WINDOW_TOKENS, modelSettingsSchema } from '../../models/model-settings.ts';
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
    kind: 'text',
    schema: z.record(z.string().regex(PRINCIPAL_PATTERN), z.number().positive()),
    fallback: {},
    describe:
      'weights of principals when tasks wait for their turn (default: 1 each); a principal with weight 2 runs twice as many tasks as one with weight 1',
    allowed: 'in the configuration file, {"principal": 2}',
  }),
  oidc: defineSetting({
    kind: 'text',
    schema: oidcSchema,
    fallback: undefined,
    describe:
      'an OpenID Connect provider whose access tokens the server accepts, and that signs people in to the page (docs/access.md)',
    allowed: 'in the configuration file, {"issuer": …, "audience": …, "tenant": …, "roles": […]}',
  }),
  metricsToken: defineSetting({
    kind: 'text',
    schema: z
      .string()
      .regex(TOKEN_PATTERN, 'a token has 20 to 512 characters A-Z a-z 0-9 . _ ~ + / -')
      .optional(),
    fallback: undefined,
    describe:
      'a token that can read /metrics and nothing else (default: only the local token can read /metrics)',
    allowed: '20 to 512 characters A-Z a-z 0-9 . _ ~ + / -',
  }),
  chatWebhooks: defineSetting({
    kind: 'text',
    schema: z.array(chatWebhookSchema),
    fallback: [],
    describe: 'chats that get a message when a task waits for a person or has ended (docs/push.md)',
    allowed: 'in the configuration file, [{"format": "slack" | "teams" | "ntfy", "url": …}]',
  }),
  policy: defineSetting({
    kind: 'text',
    schema: rulesSchema,
    fallback: [],
    describe: 'rules that allow, ask for or deny tool calls (docs/policies.md)',
    allowed:
      'in the configuration file, [{"action": "allow" | "ask" | "presence" | "deny", "tool": …, "path": …, "approver": …, …}] (docs/policies.md)',
  }),
  baseUrls: defineSetting({
    kind: 'text',
    schema: modelSettingsSchema.shape.baseUrls,
    fallback: {},
    describe: 'other base URLs of model providers',
    allowed: 'in the configuration file, {"provider": "URL"}',
  }),
  keys: defineSetting({
    kind: 'text',
    schema: modelSettingsSchema.shape.keys,
    fallback: {},
    describe: 'where the keys of model providers come from, if not from their usual variables',
    allowed:
      'in the configuration file, {"provider": {"env": "NAME"}} or {"provider": {"command": ["program", "argument"]}}',
  }),
  prices: defineSetting({
    kind: 'text',
    schema: modelSettingsSchema.shape.prices,
    fallback: {},
    describe:
      'prices of models in US dollars per million tokens (default: the list prices of well-known models)',
    allowed: 'in the configuration file, {"provider:model": {"input": 3, "output": 15, "cachedInput": 0.3}}',
  }),
  contextWindow: defineSetting({
    kind: 'text',
    schema: modelSettingsSchema.shape.contextWindow,
    fallback: {},
    describe: `context windows of models in tokens (default: those of well-known models, otherwise ${DEFAULT_WINDOW_TOKENS})`,
    allowed: 'in the configuration file, {"provider:model": 32768}, from 8000',
  }),
  inputModes: defineSetting({
    kind: 'text',
    schema: modelSettingsSchema.shape.inputModes,
    fallback: {},
    describe: 'types of the files that models take (default: those of well-known models, otherwise none)',
    allowed: `in the configuration file, {"provider:model": ["image/png"]}, of ${FILE_MEDIA_TYPES.join(', ')}`,
  }),
  modelParameters: defineSetting({
    kind: 'text',
    schema: modelSettingsSchema.shape.parameters,
    fallback: {},
    describe: 'temperature, output limit and reasoning effort, by tier or model id',
    allowed:
      'in the configuration file, {"smart": {"effort": "high"}, "provider:model": {"temperature": 0.2, "maxOutputTokens": 8000}}',
  }),
  mcpServers: defineSetting({
    kind: 'text',
    schema: mcpServerConfigsSchema,
    fallback: {},
    describe: 'MCP servers whose tools the agent may call',
    allowed: 'in the configuration file, as described in docs/mcp-servers.md',
  }),
});
