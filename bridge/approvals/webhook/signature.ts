/**
 * Signs a post in the format of "Standard Webhooks" 1.0: `v1,` and then, in base64, the HMAC-SHA256 of
 * `<webhook-id>.<webhook-timestamp>.<body>`. Pure.
 */
import { createHmac } from 'node:crypto';

/**
 * The prefix of a secret that is in base64: "Secrets are base64 encoded, prefixed with whsec_". Any other secret is
 * used as it is.
 */
const PREFIX = 'whsec_';

interface SignedPostContent {
  /** The id of the post. It is the same for every attempt, so that the receiver can detect repetitions. */
  id: string;
  /** The time of this attempt, in seconds since 1970. */
  timestamp: number;
  body: string;
}

export function signatureHeaders(
  { id, timestamp, body }: SignedPostContent,
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
