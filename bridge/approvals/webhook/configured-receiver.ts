/** Reads the setting `approvalWebhook`: where posts are sent. */
import { readPackageVersion } from '../../../shared/runtime/version.ts';
import { credentialHeaders, readSecret } from '../../agents/credentials.ts';
import type { WebhookSettings } from '../../settings/webhook-settings.ts';
import { chatAddress } from '../../../shared/chat/chat-message.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import type { WebhookReceiver } from './post.ts';

/**
 * Returns the webhook's URL, secret and headers.
 * @throws ProductError CONFIGURATION. Its message contains no secret.
 */
export async function readWebhookReceiver(
  settings: WebhookSettings,
  env: Environment,
): Promise<WebhookReceiver> {
  const whose = 'The approval webhook';
  const { format, url, secretEnv, secretCommand, tokenEnv, tokenCommand, headers } = settings;
  const source = secretCommand === undefined ? secretEnv && { env: secretEnv } : { command: secretCommand };
  const [secret, sent] = await Promise.all([
    source ? readSecret({ whose, what: 'secret', source }, env) : undefined,
    credentialHeaders(whose, { tokenEnv, tokenCommand, headers }, env),
  ]);
  const to = format === 'json' ? url : chatAddress({ format, url });
  return { url: to, secret, headers: { ...sent, 'user-agent': `mcp-a2a-bridge/${readPackageVersion()}` } };
}
