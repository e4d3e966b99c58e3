import express from 'express';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { parseJson } from './json-text.ts';

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
  const parsed: RequestHandler = (request, _response, next) => {
    const bytes: unknown = request.body;
    if (!(bytes instanceof Uint8Array)) return next();
    // A POST without a body has `Content-Length: 0`.
    if (bytes.length === 0) {
      request.body = undefined;
      return next();
    }
    const body = parseJson(bytes, limits.depth);
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
  // `inflate: false` refuses compressed bodies, because a small body could expand to a large one.
  return [declared, express.raw({ type: () => true, limit: limits.bytes, inflate: false }), parsed];
}

const bodyParserError = z.object({
  type: z.string().optional(),
  status: z.number().int().min(400).max(599),
});

/**
 * Converts an error of Express or body-parser to an error that explains the problem. Returns other errors unchanged.
 */
export function toBodyError(error: unknown, limits: BodyLimits): unknown {
  const parsed = bodyParserError.safeParse(error);
  if (error instanceof ProductError || !parsed.success) return error;
  const { type, status } = parsed.data;
  if (type === 'entity.too.large')
    return new ProductError(
      'TOO_LARGE',
      `The body is larger than ${limits.bytes} bytes. Put large content into a file of the workspace and name it.`,
      { facts: { limit: String(limits.bytes) }, cause: error },
    );
  if (type === 'encoding.unsupported')
    return new ProductError('UNSUPPORTED_CONTENT', 'Send the body without Content-Encoding.', {
      cause: error,
    });
  if (status < 500)
    return new ProductError(
      'MALFORMED',
      'The request could not be read: its address or its body is malformed.',
      {
        cause: error,
      },
    );
  return error;
}
