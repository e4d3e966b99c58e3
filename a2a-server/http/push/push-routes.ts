import { Router } from 'express';
import type { NotificationSigner } from '../../push/notification-signer.ts';
import type { PushConfigurations } from '../../push/push-configurations.ts';
import { JWKS_MAX_AGE_S } from '../../push/push-keys.ts';
import { callerOf } from '../auth/caller.ts';

export const PUSH_KEYS_PATH = '/.well-known/jwks.json';

/**
 * `GET /.well-known/jwks.json` returns the public keys. A receiver of push notifications checks their signatures with
 * these keys. This route is one of the few without a token (X1): a receiver has no token, and the keys are not secret.
 */
export function pushKeysRoute({ publicKeys }: Pick<NotificationSigner, 'publicKeys'>): Router {
  return Router().get(PUSH_KEYS_PATH, async (_request, response) => {
    const keys = await publicKeys();
    response.setHeader('Cache-Control', `public, max-age=${JWKS_MAX_AGE_S}`);
    response.type('application/jwk-set+json').send(JSON.stringify(keys));
  });
}

/**
 * Shows operators which receivers of push notifications fail. `GET /api/push/failing` lists them. `POST
 * /api/push/retry/:id` delivers to one of them again.
 */
export function failingReceiversRoutes(push: Pick<PushConfigurations, 'failing' | 'retry'>): Router {
  const router = Router();
  router.get('/api/push/failing', async (request, response) => {
    response.json({ receivers: await push.failing(callerOf(request).requester) });
  });
  router.post('/api/push/retry/:id', async (request, response) => {
    response.json(await push.retry(request.params.id, callerOf(request).requester));
  });
  return router;
}
