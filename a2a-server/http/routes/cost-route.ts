/** `GET /api/costs?days=…` reports what the caller's tasks cost, by UTC day, by session and by model. */
import { Router } from 'express';
import { z } from 'zod';
import { issuesText } from '../../../shared/settings/config.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';

const DEFAULT_DAYS = 30;
/** Maximum number of days in a report: ten years. */
const MOST_DAYS = 3_660;

const query = z.object({ days: z.coerce.number().int().min(1).max(MOST_DAYS).default(DEFAULT_DAYS) });

export function costRoute(tasks: TaskService): Router {
  const router = Router();
  router.get('/api/costs', async (request, response) => {
    const parsed = query.safeParse(request.query);
    if (!parsed.success)
      throw new ProductError(
        'MALFORMED',
        `The query is ?days=…, a whole number from 1 to ${MOST_DAYS}: ${issuesText(parsed.error)}.`,
      );
    response.json(await tasks.costs(callerOf(request).principal, parsed.data.days));
  });
  return router;
}
