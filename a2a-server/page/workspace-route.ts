/** Tells the page which directories a task may work in, so that the person can choose one. */
import { Router } from 'express';

export interface PageWorkspaces {
  /** The workspace of a task that names none; null if there is none. */
  fallback: string | null;
  /** The directories that may contain workspaces. Empty: any directory may be a workspace. */
  allowed: readonly string[];
}

export function workspaceRoute(workspaces: PageWorkspaces): Router {
  const router = Router();
  router.get('/workspaces', (_request, response) => void response.json(workspaces));
  return router;
}
