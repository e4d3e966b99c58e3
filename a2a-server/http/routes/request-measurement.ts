/** Measures the duration of requests, and counts the open event streams. */
import type { RequestHandler, Response } from 'express';
import { watchWritten } from '../../../shared/net/written-response.ts';
import type { AnsweredRequest } from '../../telemetry/metrics.ts';
import { jsonRpcMethodOf } from '../auth/caller.ts';
import { findRoutePattern } from './methods-and-roles.ts';

/** The methods of RFC 9110 §9, and PATCH. The metrics count all other methods as one. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
]);

export interface RequestMeasurement {
  middleware: RequestHandler;
  /** Records a request that load shedding has answered. Such a request does not reach `middleware`. */
  record: (request: AnsweredRequest) => void;
  openStreams(): number;
}

/**
 * @param record called for each answered request, but not for an event stream, because its client chooses the duration
 */
export function createRequestMeasurement(record: (request: AnsweredRequest) => void): RequestMeasurement {
  const open = new Set<Response>();
  return {
    middleware(request, response, next) {
      const since = performance.now();
      // The path is read here, because a router changes `request.path` later.
      const route = findRoutePattern(request.path);
      open.add(response);
      const isWritten = watchWritten(response);
      response.once('close', () => {
        open.delete(response);
        if (isStream(response) || !isWritten()) return;
        const operation = jsonRpcMethodOf(request);
        record({
          method: METHODS.has(request.method) ? request.method : '_OTHER',
          status: response.statusCode,
          seconds: (performance.now() - since) / 1000,
          ...(route !== undefined && { route }),
          ...(operation !== undefined && { operation }),
        });
      });
      next();
    },
    record,
    openStreams: () => [...open].filter(isStream).length,
  };
}

function isStream(response: Response): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}
