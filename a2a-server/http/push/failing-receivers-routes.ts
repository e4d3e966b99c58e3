/**
 * Shows operators which receivers of push notifications fail. `GET /api/push/failing` lists them. `POST
 * /api/push/retry/:id` delivers to one of them again.
 */
import { Router } from 'express';
import type { PushConfigurations } from '../../push/push-configurations.ts';
import { callerOf } from '../auth/caller.ts';

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
