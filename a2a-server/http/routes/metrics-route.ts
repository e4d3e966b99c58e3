/**
 * `GET /metrics` returns the metrics in the text format of Prometheus. The numbers cover the tasks of all users. So
 * this route refuses the tokens of users.
 */
import { Router } from 'express';
import type { Authenticate } from '../auth/tokens.ts';

/** The media type of Prometheus's text format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface MetricsRouteOptions {
  text: () => Promise<string>;
  /** Checks the token of the operator. @throws ProductError UNAUTHENTICATED */
  authenticate: Authenticate;
}

export function metricsRoute({ text, authenticate }: MetricsRouteOptions): Router {
  const router = Router();
  router.get('/metrics', async (request, response) => {
    await authenticate(request.headers.authorization);
    response.setHeader('Content-Type', METRICS_TYPE).send(await text());
  });
  return router;
}
