/** Lists the agent commands. A client runs a command with an A2A message, so this route does not run one. */
import { Router } from 'express';
import type { OfferedCommand } from '../../../shared/protocol/agent-command.ts';

export function agentCommandsRoute(commands: readonly OfferedCommand[]): Router {
  const router = Router();
  router.get('/api/commands', (_request, response) => {
    response.json({ commands });
  });
  return router;
}
