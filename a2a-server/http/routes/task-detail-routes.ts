/**
 * Routes for the approval page and for programs, besides A2A. Most of them are about one task:
 *
 * - `GET /api/costs?days=…` returns the cost of the caller's tasks, by UTC day, by session and by model.
 * - `GET /api/tasks/:taskId/costs` returns the cost of each request of one task.
 * - `GET /api/tasks/:taskId/files/:hash` sends the content of a file from a message or a tool result.
 * - `GET /api/tasks/:taskId/story?after=n` returns the journal entries after position n, for a person to read. One
 *   response covers at most `MAX_STORY_ENTRIES` entries. `reasoning=true` adds the model's reasoning. A reader follows
 *   the task's stream, and reads the new entries when an event arrives.
 * - `GET /api/tasks/:taskId/calls/:callId/input-schema` returns `{ schema }`, the JSON Schema of the tool call's input,
 *   or null. The journal does not have the schema, because the server checks an edit with the tool's current schema.
 * - `GET /api/tasks/:taskId/receipt` returns the signed receipt of a task as JSON, or as Markdown for `Accept:
 *   text/markdown`. `?events=n` limits the receipt to the first n events, so that an old receipt can be compared with
 *   the journal.
 * - `GET /api/receipt-key` returns the fingerprint of the key that signs the receipts.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { Router } from 'express';
import { z } from 'zod';
import type { StoryPage } from '../../../shared/protocol/task-story.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';
import { parseCursor } from '../streams/event-cursor.ts';
import { toStoryEvents } from '../wire/story-projection.ts';
import { validateRequestInput } from '../wire/validate-request-input.ts';

const DEFAULT_DAYS = 30;
/** The maximum number of days in a request: ten years. */
const MAX_DAYS = 3_660;
const MAX_STORY_ENTRIES = 2_000;

const costQuery = z.object({ days: z.coerce.number().int().min(1).max(MAX_DAYS).default(DEFAULT_DAYS) });
const storyQuery = z.strictObject({
  after: z.string().default('0'),
  reasoning: z.enum(['true', 'false']).default('false'),
});
const receiptQuery = z.strictObject({ events: z.coerce.number().int().min(1).optional() });

export function taskDetailRoutes(tasks: TaskService, signingKey: () => Promise<KeyObject>): Router {
  const router = Router();
  router.get('/api/costs', async (request, response) => {
    const { days } = validateRequestInput(
      costQuery,
      request.query,
      `The query is ?days=…, a whole number from 1 to ${MAX_DAYS}`,
    );
    response.json(await tasks.costs(callerOf(request).principal, days));
  });
  router.get('/api/tasks/:taskId/costs', async (request, response) => {
    response.json(await tasks.taskCosts(request.params.taskId, callerOf(request).requester));
  });
  router.get('/api/tasks/:taskId/files/:hash', async (request, response) => {
    const { taskId, hash } = request.params;
    const { mediaType, bytes } = await tasks.file(taskId, callerOf(request).requester, hash);
    // A client, a workspace or an MCP server supplied the content. So the headers prevent a browser from guessing its
    // type, running it, or showing it as a page of this origin.
    response.setHeader('Content-Type', mediaType);
    response.setHeader('Content-Disposition', 'attachment');
    response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    response.end(bytes);
  });
  router.get('/api/tasks/:taskId/story', async (request, response) => {
    const asked = validateRequestInput(
      storyQuery,
      request.query,
      'The query is ?after=…, a position, and reasoning=true or false',
    );
    const { taskId } = request.params;
    const { requester } = callerOf(request);
    const { seq: end } = await tasks.row(taskId, requester);
    const otherwise = 'Leave it out to read from the beginning.';
    const after = parseCursor({ name: 'after', text: asked.after, otherwise }, end);
    const entries = await tasks.entries(taskId, requester, { after, limit: MAX_STORY_ENTRIES });
    const seq = entries.at(-1)?.seq ?? after;
    const events = toStoryEvents(entries, asked.reasoning === 'true');
    response.json({ events, seq, more: seq < end } satisfies StoryPage);
  });
  router.get('/api/tasks/:taskId/calls/:callId/input-schema', async (request, response) => {
    const { taskId, callId } = request.params;
    const schema = await tasks.inputSchema(taskId, callerOf(request).requester, callId);
    response.json({ schema });
  });
  router.get('/api/tasks/:taskId/receipt', async (request, response) => {
    const { events } = validateRequestInput(
      receiptQuery,
      request.query,
      'The query is ?events=…, a whole number',
    );
    const receipt = await tasks.receipt(request.params.taskId, callerOf(request).requester, events);
    const { sealReceiptJson, sealReceiptMarkdown } = await import('../../../shared/receipt/seal.ts');
    const key = await signingKey();
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.vary('Accept');
    if (request.accepts(['application/json', 'text/markdown']) === 'text/markdown')
      response.type('text/markdown; charset=utf-8').end(sealReceiptMarkdown(receipt, key));
    else response.type('application/json').end(sealReceiptJson(receipt, key));
  });
  router.get('/api/receipt-key', async (_request, response) => {
    const { publicKeyFingerprint } = await import('../../../shared/receipt/seal.ts');
    response.json({ fingerprint: publicKeyFingerprint(createPublicKey(await signingKey())) });
  });
  return router;
}
