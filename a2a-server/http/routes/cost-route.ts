/**
 * `GET /api/costs?days=…` returns the cost of the caller's tasks, by UTC day, by session and by model.
 * `GET /api/tasks/:taskId/costs` returns the cost of each request of one task.
 */
import { Router } from 'express';
import { z } from 'zod';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';
import { validateRequestInput } from '../wire/validate-request-input.ts';

const DEFAULT_DAYS = 30;
/** The maximum number of days in a request: ten years. */
const MAX_DAYS = 3_660;

const query = z.object({ days: z.coerce.number().int().min(1).max(MAX_DAYS).default(DEFAULT_DAYS) });

export function costRoute(tasks: TaskService): Router {
  const router = Router();
  router.get('/api/costs', async (request, response) => {
    const { days } = validateRequestInput(
      query,
      request.query,
      `The query is ?days=…, a whole number from 1 to ${MAX_DAYS}`,
    );
    response.json(await tasks.costs(callerOf(request).principal, days));
  });
  router.get('/api/tasks/:taskId/costs', async (request, response) => {
    response.json(await tasks.taskCosts(request.params.taskId, callerOf(request).requester));
  });
  return router;
}
