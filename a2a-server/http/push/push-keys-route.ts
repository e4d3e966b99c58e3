/**
 * `GET /.well-known/jwks.json` returns the public key of the signatures of push notifications. It is one of the few
 * routes without a token (X1): a receiver has no token, and the key is not a secret.
 */
import { Router } from 'express';
import type { NotificationSigner } from '../../push/notification-signer.ts';

export const PUSH_KEYS_PATH = '/.well-known/jwks.json';

/** A receiver reads the keys again when it meets an unknown `kid`. */
const MAX_AGE_SECONDS = 300;

export function pushKeysRoute({ publicKeys }: Pick<NotificationSigner, 'publicKeys'>): Router {
  const router = Router();
  router.get(PUSH_KEYS_PATH, async (_request, response) => {
    const keys = await publicKeys();
    response.setHeader('Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`);
    response.type('application/jwk-set+json').send(JSON.stringify(keys));
  });
  return router;
}
