/** Sends the page the allowed workspaces, so that the person can choose one. */
import { Router } from 'express';

export interface AllowedWorkspaces {
  /** The workspace of a task whose message names no workspace. Null if there is no such default. */
  fallback: string | null;
  /** Workspaces must be inside these directories. If the list is empty, any directory may be a workspace. */
  allowed: readonly string[];
}

export function allowedWorkspacesRoute(workspaces: AllowedWorkspaces): Router {
  const router = Router();
  router.get('/workspaces', (_request, response) => void response.json(workspaces));
  return router;
}
