/**
 * `GET /api/tasks/:taskId/checkpoints` lists the turns of a task that changed files. `GET
 * /api/tasks/:taskId/checkpoints/:turn` returns what a restoration of that turn would change. With `?since=true`, the
 * restoration also covers all later turns. Neither route changes anything. The command `checkpoint restore` restores
 * the files.
 */
import { Router } from 'express';
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { TaskCheckpoints } from '../../../shared/protocol/task-checkpoints.ts';
import {
  toTaskCheckpoint,
  previewRestore,
  type RestorePreviewOptions,
} from '../../checkpoints/restore-preview.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { checkpointsOf } from '../../task/compute-checkpoints.ts';
import type { StateName } from '../../task/snapshot.ts';
import { callerOf } from '../auth/caller.ts';
import { validateRequestInput } from '../wire/validate-request-input.ts';

const query = z.strictObject({ since: z.enum(['true', 'false']).default('false') });

const LIVE_STATES: readonly StateName[] = ['submitted', 'working', 'input-required', 'auth-required'];

type Tasks = Pick<TaskService, 'snapshot' | 'list'>;

export function checkpointRoutes(tasks: Tasks, restoring: RestorePreviewOptions): Router {
  const router = Router();
  router.get('/api/tasks/:taskId/checkpoints', async (request, response) => {
    const snapshot = await tasks.snapshot(request.params.taskId, callerOf(request).requester);
    const { principal, sessionId, settings } = snapshot;
    const live = await tasks.list({ principal, sessionId, states: LIVE_STATES }, { size: 1 });
    const [liveTask] = live.rows.map(({ taskId, title }) => ({ taskId, title }));
    const answer: TaskCheckpoints = {
      checkpoints: checkpointsOf(snapshot).map(toTaskCheckpoint),
      workspace: settings.workspace ?? '',
      liveTask: liveTask ?? null,
    };
    response.json(answer);
  });
  router.get('/api/tasks/:taskId/checkpoints/:turn', async (request, response) => {
    const asked = validateRequestInput(query, request.query, 'The query is ?since=true or false');
    const { taskId, turn } = request.params;
    const snapshot = await tasks.snapshot(taskId, callerOf(request).requester);
    const { principal } = snapshot;
    const found = checkpointsOf(snapshot).find((each) => String(each.turn) === turn);
    if (found === undefined)
      throw new ProductError('UNKNOWN_ADDRESS', `Task ${taskId} has no checkpoint of this turn.`);
    const { id: checkpoint, workspace } = found;
    const since = asked.since === 'true';
    const preview = await previewRestore({ principal, checkpoint, since, workspace }, restoring);
    response.json(preview);
  });
  return router;
}
