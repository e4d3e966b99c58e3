/**
 * `GET /api/tasks/:taskId/calls/:callId/input-schema` returns `{ schema }`, the JSON Schema of the tool call's input,
 * or null. The journal does not have the schema, because the server checks an edit with the tool's current schema.
 */
import { Router } from 'express';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';

export function inputSchemaRoute(tasks: Pick<TaskService, 'inputSchema'>): Router {
  const router = Router();
  router.get('/api/tasks/:taskId/calls/:callId/input-schema', async (request, response) => {
    const { taskId, callId } = request.params;
    const schema = await tasks.inputSchema(taskId, callerOf(request).requester, callId);
    response.json({ schema });
  });
  return router;
}
