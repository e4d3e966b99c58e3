/**
 * `GET /api/tasks/:taskId/files/:hash` sends the content of a file from a message or a tool result.
 *
 * A client, a workspace or an MCP server supplied the content. So the headers prevent a browser from guessing its type,
 * running it, or showing it as a page of this origin.
 */
import { Router } from 'express';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';

export function taskFileRoute(tasks: TaskService): Router {
  const router = Router();
  router.get('/api/tasks/:taskId/files/:hash', async (request, response) => {
    const { taskId, hash } = request.params;
    const { mediaType, bytes } = await tasks.file(taskId, callerOf(request).requester, hash);
    response.setHeader('Content-Type', mediaType);
    response.setHeader('Content-Disposition', 'attachment');
    response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    response.end(bytes);
  });
  return router;
}
