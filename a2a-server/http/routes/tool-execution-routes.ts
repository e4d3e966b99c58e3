/**
 * Routes for clients without A2A or MCP. `GET /api/tools` lists the running tool executions. `POST
 * /api/tools/abort/:toolId` aborts one execution and returns `{success, message}`.
 */
import { Router } from 'express';
import { z } from 'zod';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';
import { validateRequestInput } from '../wire/validate-request-input.ts';
import { jsonBody } from './json-body.ts';
import type { BodyLimits } from './json-body.ts';

const abortRequest = z.strictObject({ reason: z.string().min(1).max(10_000).optional() }).optional();

const MAX_REASON_CHARS = 300;

export function toolExecutionRoutes(
  tasks: TaskService,
  { limits, log }: { limits: BodyLimits; log: Logger },
): Router {
  const router = Router();
  router.get('/api/tools', async (request, response) => {
    const running = await tasks.toolExecutions(callerOf(request).requester);
    response.json({
      tools: running.map((it) => ({ ...it, startedAt: new Date(it.startedAt).toISOString() })),
    });
  });
  router.post(
    '/api/tools/abort/:toolId',
    ...jsonBody(['application/json'], limits),
    async (request, response) => {
      const body = validateRequestInput(
        abortRequest,
        request.body,
        'The body must be empty or {"reason": "…"}',
      );
      const reason = body?.reason ?? 'no reason was given';
      const toolId = String(request.params['toolId']);
      const caller = callerOf(request);
      caller.addFacts({ toolId });
      const { principal, requester } = caller;
      const { success, message } = await tasks.abortTool(toolId, requester, reason);
      // Only a failed abort is logged here. A successful abort is an event of the task, which
      // `startup/event-log-lines.ts` logs.
      if (!success)
        log.info(
          {
            toolId: oneLineExcerpt(toolId, 200),
            principal,
            reason: oneLineExcerpt(reason, MAX_REASON_CHARS),
            message,
          },
          'an abort request stopped nothing',
        );
      response.json({ success, message });
    },
  );
  return router;
}
