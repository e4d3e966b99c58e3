import type { RequestHandler } from 'express';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { bodyMemoryOf } from '../auth/caller.ts';
import { safeParseJson } from '../wire/json-text.ts';
import { readRequestBody } from '../wire/request-body.ts';

export interface BodyLimits {
  bytes: number;
  depth: number;
}

export const DEFAULT_BODY_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, depth: 64 };

export class NotJsonError extends ProductError {
  constructor(problem: string) {
    super('MALFORMED', `${problem} Send one JSON value, encoded as UTF-8.`);
  }
}

/**
 * Middleware that sets `request.body` to the parsed body, or to undefined if there is no body. X3: a large or deeply
 * nested body must not block the process. Passes ProductError TOO_LARGE, UNSUPPORTED_CONTENT or MALFORMED to the error
 * handler.
 */
export function jsonBody(mediaTypes: readonly string[], limits: BodyLimits): RequestHandler[] {
  const declared: RequestHandler = (request, _response, next) => {
    const mediaType = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    if (mediaType === undefined || mediaTypes.includes(mediaType)) return next();
    return next(
      new ProductError(
        'UNSUPPORTED_CONTENT',
        `This address takes ${mediaTypes.join(' or ')}, not ${JSON.stringify(mediaType.slice(0, 100))}.`,
      ),
    );
  };
  const read: RequestHandler = async (request, _response, next) => {
    const { headers } = request;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    // The load shedding or an earlier route may have read the body.
    if (!hasBody || request.readableEnded) return next();
    // A small compressed body could expand to a large one.
    if (!/^(identity)?$/i.test(headers['content-encoding'] ?? ''))
      throw new ProductError('UNSUPPORTED_CONTENT', 'Send the body without Content-Encoding.');
    const body = await readRequestBody(request, limits.bytes, bodyMemoryOf(request));
    // A client that has disconnected gets no answer.
    if (body === undefined) return;
    request.body = body;
    next();
  };
  const parsed: RequestHandler = (request, _response, next) => {
    const bytes: unknown = request.body;
    if (!(bytes instanceof Uint8Array)) return next();
    // A POST without a body has `Content-Length: 0`.
    if (bytes.length === 0) {
      request.body = undefined;
      return next();
    }
    const body = safeParseJson(bytes, limits.depth);
    switch (body.type) {
      case 'value':
        request.body = body.value;
        return next();
      case 'not-json':
        return next(new NotJsonError(body.problem));
      case 'too-deep':
        return next(new ProductError('MALFORMED', body.problem));
    }
  };
  return [declared, read, parsed];
}
