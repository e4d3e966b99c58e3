/** Defines the setting `approvalWebhook`: where the bridge posts pending actions, and how both sides authenticate. */
import { z } from 'zod';
import { agentAccess, httpUrl } from './agent-settings.ts';
import { isLoopback } from '../../shared/net/loopback.ts';
import { parseUrl } from '../../shared/net/parse-url.ts';

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable');

/** How long a person can answer in the client before the webhook posts, in seconds. */
const AFTER_SECONDS = 30;

export const webhookSettingsSchema = z
  .strictObject({
    url: httpUrl,
    /** True allows unencrypted posts, with previews, over a network. */
    allowHttp: z.boolean().default(false),
    /** The variable or command with the secret that signs posts. */
    secretEnv: variableName.optional(),
    secretCommand: agentAccess.tokenCommand,
    tokenEnv: variableName.optional(),
    tokenCommand: agentAccess.tokenCommand,
    headers: agentAccess.headers,
    afterSeconds: z.number().min(0).max(86_400).default(AFTER_SECONDS),
  })
  .refine(({ url, allowHttp }) => allowHttp || isSafe(url), {
    message:
      'https, or http on this machine, because http shows pending actions to any listener. "allowHttp": true allows it',
    path: ['url'],
  })
  .refine(({ secretEnv, secretCommand }) => secretEnv !== undefined || secretCommand !== undefined, {
    message: 'the secret that posts are signed with: name it as "secretEnv" or "secretCommand"',
    path: ['secretEnv'],
  });
export type WebhookSettings = z.infer<typeof webhookSettingsSchema>;

function isSafe(text: string): boolean {
  const url = parseUrl(text);
  return url?.protocol === 'https:' || isLoopback(url?.hostname ?? '');
}
