/** Sends the page the server's agent and its models, so that the person can choose one. */
import { Router } from 'express';
import type { OfferedAgent } from '../../shared/protocol/offered-agent.ts';

export function agentRoute(agent: OfferedAgent): Router {
  const router = Router();
  router.get('/agent', (_request, response) => void response.json(agent));
  return router;
}
