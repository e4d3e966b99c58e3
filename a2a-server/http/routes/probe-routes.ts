/**
 * Serves `GET /livez` and `GET /readyz` for load balancers and process managers. Such a program sends no token, and an
 * arbitrary `Host`. So these routes need no token and check no `Host`. Their answers say nothing about tasks, settings
 * or users.
 */
import { Router } from 'express';

/** The reason why a server accepts no work. */
export type NotReadyReason = 'starting' | 'closing' | 'journal-unreachable';

/**
 * `/livez` answers 200 while the process answers at all. `/readyz` answers 503 with the reasons if the server accepts
 * no work.
 * @param reasons returns no reasons if the server is ready
 */
export function probeRoutes(reasons: () => readonly NotReadyReason[]): Router {
  const router = Router();
  router.get('/livez', (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', (_request, response) => {
    const found = reasons();
    if (found.length === 0) response.json({ status: 'ok' });
    else response.status(503).json({ status: 'unavailable', reasons: found });
  });
  return router;
}
