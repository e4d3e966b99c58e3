/**
 * Routes for clients without A2A or MCP. `GET /api/tools` lists the running tool executions. `POST /api/tools/abort/:toolId`
 * aborts one and answers `{success, message}`.
 */
import { Router } from 'express';
import { z } from 'zod';
import { issuesOf } from '../../../shared/settings/config.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';
import { jsonBody } from '../wire/json-body.ts';
import type { BodyLimits } from '../wire/json-body.ts';

const abortRequest = z.strictObject({ reason: z.string().min(1).max(10_000).optional() }).optional();

export function toolRoutes(tasks: TaskService, limits: BodyLimits): Router {
  const router = Router();
  router.get('/api/tools', (request, response) => {
    const running = tasks.toolExecutions(callerOf(request).principal);
    response.json({
      tools: running.map((it) => ({ ...it, startedAt: new Date(it.startedAt).toISOString() })),
    });
  });
  router.post(
    '/api/tools/abort/:toolId',
    ...jsonBody(['application/json'], limits),
    async (request, response) => {
      const body = abortRequest.safeParse(request.body);
      if (!body.success)
        throw new ProductError(
          'MALFORMED',
          `The body is optional, {"reason": "…"}: ${issuesOf(body.error)}.`,
        );
      const reason = body.data?.reason ?? 'no reason was given';
      const { success, message } = await tasks.abortTool(
        String(request.params['toolId']),
        callerOf(request).principal,
        reason,
      );
      response.json({ success, message });
    },
  );
  return router;
}
