/**
 * `GET /.well-known/jwks.json` returns the public keys of the signatures of push notifications. This route is one of
 * the few without a token (X1): a receiver has no token, and the keys are not secret.
 */
import { Router } from 'express';
import type { NotificationSigner } from '../../push/notification-signer.ts';
import { JWKS_MAX_AGE_S } from '../../push/push-keys.ts';

export const PUSH_KEYS_PATH = '/.well-known/jwks.json';

export function pushKeysRoute({ publicKeys }: Pick<NotificationSigner, 'publicKeys'>): Router {
  const router = Router();
  router.get(PUSH_KEYS_PATH, async (_request, response) => {
    const keys = await publicKeys();
    response.setHeader('Cache-Control', `public, max-age=${JWKS_MAX_AGE_S}`);
    response.type('application/jwk-set+json').send(JSON.stringify(keys));
  });
  return router;
}
