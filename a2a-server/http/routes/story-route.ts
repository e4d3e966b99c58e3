/**
 * `GET /api/tasks/:taskId/story?after=n` returns the journal entries after position n, for a person to read. One
 * response covers at most `MAX_ENTRIES` entries. `reasoning=true` adds the model's reasoning. A reader follows the
 * task's stream, and reads the new entries when an event arrives.
 */
import { Router } from 'express';
import { z } from 'zod';
import type { StoryPage } from '../../../shared/protocol/task-story.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';
import { parseCursor } from '../streams/event-cursor.ts';
import { validateRequestInput } from '../wire/validate-request-input.ts';
import { toStoryEvents } from '../wire/story-projection.ts';

const MAX_ENTRIES = 2_000;

const query = z.strictObject({
  after: z.string().default('0'),
  reasoning: z.enum(['true', 'false']).default('false'),
});

export function storyRoute(tasks: TaskService): Router {
  const router = Router();
  router.get('/api/tasks/:taskId/story', async (request, response) => {
    const asked = validateRequestInput(
      query,
      request.query,
      'The query is ?after=…, a position, and reasoning=true or false',
    );
    const { taskId } = request.params;
    const { requester } = callerOf(request);
    const { seq: end } = await tasks.row(taskId, requester);
    const otherwise = 'Leave it out to read from the beginning.';
    const after = parseCursor({ name: 'after', text: asked.after, otherwise }, end);
    const entries = await tasks.entries(taskId, requester, { after, limit: MAX_ENTRIES });
    const seq = entries.at(-1)?.seq ?? after;
    const page: StoryPage = {
      events: toStoryEvents(entries, asked.reasoning === 'true'),
      seq,
      more: seq < end,
    };
    response.json(page);
  });
  return router;
}
