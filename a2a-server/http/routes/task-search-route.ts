/** `GET /api/tasks?prefix=…` finds tasks by a prefix of the task id or the session id. A2A has no such query. */
import { Router } from 'express';
import { z } from 'zod';
import type { TasksByIdPrefix } from '../../../shared/protocol/task-search-result.ts';
import { visibleTasksFilter } from '../../access/requester.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';
import { validateRequestInput } from '../wire/validate-request-input.ts';

const query = z.object({ prefix: z.string().min(1).max(200) });

/** The maximum number of tasks in the response. If there are more, a person types more of the id. */
const MAX_TASKS = 100;

/** The server's ids start with their kind, which people usually omit. So the search also tries these kinds. */
const ID_PREFIXES = ['', 'session-', 'task-'];

export function taskSearchRoute(tasks: TaskService): Router {
  const router = Router();
  router.get('/api/tasks', async (request, response) => {
    const { prefix } = validateRequestInput(query, request.query, 'The query must be ?prefix=<text>');
    const idPrefixes = ID_PREFIXES.map((kind) => `${kind}${prefix}`);
    const { requester } = callerOf(request);
    const { rows, total } = await tasks.list(
      { ...visibleTasksFilter(requester), idPrefixes },
      { size: MAX_TASKS },
    );
    const found: TasksByIdPrefix = {
      tasks: rows.map(({ taskId, sessionId, title }) => ({ taskId, sessionId, title })),
      total,
    };
    response.json(found);
  });
  return router;
}
