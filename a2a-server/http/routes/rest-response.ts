/** Formats the responses of the HTTP+JSON binding: the media type, errors, and the events of a stream. */
import type { Request, Response } from 'express';
import { A2A_CONTENT_TYPE, StreamResponse } from '@a2a-js/sdk';
import { restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { moveGenerationsIntoFields } from '../wire/generation-field.ts';
import type { StreamFormat } from '../streams/stream-response.ts';
import { sseIdOfEvent } from '../streams/event-cursor.ts';
import { retryLaterOf, toWireError } from '../wire/wire-errors.ts';

export const JSON_CONTENT_TYPE = 'application/json';

/**
 * Returns the media type of the response. A2A 1.0 §11.1: it is the A2A media type, unless the client prefers plain
 * JSON.
 */
export function answerType(request: Request): string {
  return request.accepts([A2A_CONTENT_TYPE, JSON_CONTENT_TYPE]) || A2A_CONTENT_TYPE;
}

/** The google.rpc.Code names that differ from the SDK's names. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'ALREADY_EXISTS',
  413: 'RESOURCE_EXHAUSTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
};

const ABORTED: ReadonlySet<string> = new Set(['SESSION_BUSY', 'TASK_GENERATION_MISMATCH']);

function restError(error: unknown): { code: number; body: object } {
  const mapped = toWireError(error, 'rest');
  const code = restStatusFor(mapped);
  const body = toRestErrorBody(mapped, code);
  // google.rpc.Code: ABORTED means two conflicting requests, ALREADY_EXISTS means an id in use. Both are 409.
  const status = ABORTED.has(mapped.reason) ? 'ABORTED' : (STATUS_NAMES[code] ?? body.error.status);
  return { code, body: { error: { ...body.error, status } } };
}

/** Formats events as in A2A 1.0 §11.7. The SSE id is the event's `seq` or generation. */
export function restStreamFormat(response: Response): StreamFormat<StreamResponse> {
  return {
    frame: (event) => {
      const wire = moveGenerationsIntoFields(StreamResponse.toJSON(event));
      return { data: JSON.stringify(wire), id: sseIdOfEvent(wire) };
    },
    errorFrame: (error) => ({ event: 'error', data: JSON.stringify(restError(error).body) }),
    refuse: (error) => sendRestError(response, error),
  };
}

export function sendRestError(response: Response, error: unknown): void {
  const { code, body } = restError(error);
  const later = retryLaterOf(toWireError(error, 'rest'));
  if (later !== undefined) response.setHeader('Retry-After', later.retryAfter);
  response.status(code).type(answerType(response.req)).json(body);
}
