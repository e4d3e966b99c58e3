/**
 * The setting `approvalWebhook`: where the bridge posts pending actions, and how the bridge and the receiver
 * authenticate.
 */
import { z } from 'zod';
import { CHAT_FORMATS, hasValidChatUrl } from '../../shared/chat/chat-message.ts';
import { agentAccessFields, httpUrlSchema, variableNameSchema } from './agent-settings.ts';
import { isEncryptedOrLocal } from '../../shared/net/loopback.ts';

/** The default of `afterSeconds`. In this time, a person can answer in the client. */
const DEFAULT_AFTER_SECONDS = 30;

/**
 * The formats of a post. `json` is for a program, which may answer with decisions. The others are messages for a
 * person.
 */
const POST_FORMATS = ['json', ...CHAT_FORMATS] as const;

export const webhookSettingsSchema = z
  .strictObject({
    /** The URL of the receiver: https, or http on this machine. */
    url: httpUrlSchema,
    /** `json` is for a program. The others are messages for a person. */
    format: z.enum(POST_FORMATS).default('json'),
    /** True to allow unencrypted posts over a network. The posts contain previews. */
    allowHttp: z.boolean().default(false),
    /** The environment variable with the secret that signs posts. The format `json` needs a secret. */
    secretEnv: variableNameSchema.optional(),
    /** A program and its arguments that print the secret. */
    secretCommand: agentAccessFields.tokenCommand,
    /** The environment variable with the bearer token that posts contain. */
    tokenEnv: variableNameSchema.optional(),
    /** A program and its arguments that print this token. */
    tokenCommand: agentAccessFields.tokenCommand,
    /** Further headers of a post. The values are those of an agent's `headers`. */
    headers: agentAccessFields.headers,
    /** How long an action must have waited before it is posted, in seconds. */
    afterSeconds: z.number().min(0).max(86_400).default(DEFAULT_AFTER_SECONDS),
  })
  .refine(({ url, allowHttp }) => allowHttp || isEncryptedOrLocal(url), {
    message:
      'https, or http on this machine, because http shows pending actions to any listener. "allowHttp": true allows it',
    path: ['url'],
  })
  // Only the format `json` needs a secret. A chat checks no signature, and its own secret is in the URL or in a
  // token.
  .refine(({ format, ...secret }) => format !== 'json' || hasSecret(secret), {
    message: 'the secret that posts are signed with: name it as "secretEnv" or "secretCommand"',
    path: ['secretEnv'],
  })
  .refine(({ format, url }) => format === 'json' || hasValidChatUrl({ format, url }), {
    message: 'the address of an ntfy topic, such as https://ntfy.sh/my-topic',
    path: ['url'],
  });
export type WebhookSettings = z.infer<typeof webhookSettingsSchema>;

function hasSecret(given: { secretEnv?: string | undefined; secretCommand?: unknown }): boolean {
  return given.secretEnv !== undefined || given.secretCommand !== undefined;
}
