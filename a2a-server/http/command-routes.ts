/** The agent's commands, for whoever wants to choose: `GET /api/commands`. They are carried out by a message (A2A). */
import { Router } from 'express';
import type { OfferedCommand } from '../../shared/protocol/agent-command.ts';

export function commandRoutes(commands: readonly OfferedCommand[]): Router {
  const router = Router();
  router.get('/api/commands', (_request, response) => {
    response.json({ commands });
  });
  return router;
}
