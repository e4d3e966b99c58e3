/**
 * Signs a post as "Standard Webhooks" 1.0 requires: `v1,` and the HMAC-SHA256, in base64, of
 * `<webhook-id>.<webhook-timestamp>.<body>`. Pure.
 */
import { createHmac } from 'node:crypto';

/** "Secrets are base64 encoded, prefixed with whsec_"; any other text is used as is. */
const PREFIX = 'whsec_';

export interface WebhookMessage {
  /** The receiver's idempotency key: the same for every attempt. */
  id: string;
  /** The time of the attempt, in seconds since 1970. */
  timestamp: number;
  body: string;
}

export function signatureHeaders(
  { id, timestamp, body }: WebhookMessage,
  secret: string,
): Record<string, string> {
  const key = secret.startsWith(PREFIX)
    ? Buffer.from(secret.slice(PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
  const mac = createHmac('sha256', key)
    .update(`${id}.${String(timestamp)}.${body}`)
    .digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${mac}`,
  };
}
