/** Sends the page the allowed workspaces, so that the person can choose one. */
import { Router } from 'express';
import type { AllowedWorkspaces } from '../../shared/protocol/allowed-workspaces.ts';

export function allowedWorkspacesRoute(workspaces: AllowedWorkspaces): Router {
  const router = Router();
  router.get('/workspaces', (_request, response) => void response.json(workspaces));
  return router;
}
