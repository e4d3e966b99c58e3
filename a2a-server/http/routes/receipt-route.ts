/**
 * `GET /api/tasks/:taskId/receipt` returns the signed receipt of a task as JSON, or as Markdown for
 * `Accept: text/markdown`. `?events=n` limits the receipt to the first n events, so that an old receipt can be compared
 * with the journal.
 *
 * `GET /api/receipt-key` returns the fingerprint of the key that signs the receipts.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { Router } from 'express';
import { z } from 'zod';
import type { TaskService } from '../../executor/task-service.ts';
import { callerOf } from '../auth/caller.ts';
import { validateRequestInput } from '../wire/validate-request-input.ts';

const query = z.strictObject({ events: z.coerce.number().int().min(1).optional() });

export function receiptRoute(tasks: TaskService, signingKey: () => Promise<KeyObject>): Router {
  const router = Router();
  router.get('/api/tasks/:taskId/receipt', async (request, response) => {
    const { events } = validateRequestInput(query, request.query, 'The query is ?events=…, a whole number');
    const { taskId } = request.params;
    const receipt = await tasks.receipt(taskId, callerOf(request).requester, events);
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
