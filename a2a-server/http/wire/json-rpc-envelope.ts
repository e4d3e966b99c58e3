import { isLegacyJsonRpcMethod, isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { validateRequestInput } from './validate-request-input.ts';

const envelope = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number().int(), z.null()]).optional(),
  method: z.string().min(1),
  params: z.unknown().optional(),
});
export type JsonRpcEnvelope = z.infer<typeof envelope>;
export type RequestId = string | number | null;

/** Parses the envelope of a request. @throws ProductError MALFORMED if the body is not a JSON-RPC 2.0 request */
export function parseJsonRpcEnvelope(body: unknown): JsonRpcEnvelope {
  if (body === undefined)
    throw new ProductError('MALFORMED', 'The request has no body: send a JSON-RPC 2.0 request.');
  if (Array.isArray(body))
    throw new ProductError(
      'MALFORMED',
      'The body is not a JSON-RPC 2.0 request: batches are not supported, send one request.',
    );
  return validateRequestInput(envelope, body, 'The body is not a JSON-RPC 2.0 request');
}

/** Returns the request id for the response, or null if the request has none. */
export function requestIdOf(body: unknown): RequestId {
  return z.object({ id: z.union([z.string(), z.number(), z.null()]) }).safeParse(body).data?.id ?? null;
}

/** Returns true for a notification. JSON-RPC 2.0 §4.1: a request without the member `id` gets no response. */
export function isNotification(request: JsonRpcEnvelope): boolean {
  return !Object.hasOwn(request, 'id');
}

/**
 * Sets the version header from the query parameter, if the header is missing. A2A 1.0 §3.6.1: a client may send the
 * version as a parameter. The case of the parameter's name has no meaning (§3.2.6).
 */
export const applyVersionParameter: RequestHandler = (request, _response, next) => {
  const [, version] =
    Object.entries(request.query).find(([name]) => name.toLowerCase() === VERSION_HEADER) ?? [];
  // If the parameter occurs twice, its value is an array. The header then contains JSON, which is no known version.
  if (version !== undefined && !request.headers[VERSION_HEADER])
    request.headers[VERSION_HEADER] = typeof version === 'string' ? version : JSON.stringify(version);
  next();
};

const VERSION_HEADER = 'a2a-version';

/**
 * Returns the A2A version of a request. A2A 1.0 §3.6.2: a request without a version is 0.3. Patch numbers are ignored
 * (§3.6).
 */
export function parseA2aVersion(header: string | undefined): { version: string; legacy: boolean } {
  const version = /^(\d+\.\d+)(\.\d+)?$/.exec(header?.trim() ?? '')?.[1] ?? (header?.trim() || '0.3');
  return { version, legacy: version === '0.3' };
}

/**
 * Returns the error text if the method is unknown. If the other A2A version has the method, the text names that
 * version.
 */
export function findMethodProblem(method: string, legacy: boolean): string | undefined {
  const name = JSON.stringify(method.slice(0, 100));
  // The SDK looks up the method with `in`, so it also finds names that every object inherits, such as `toString`.
  if (method in Object.prototype) return `There is no method ${name}.`;
  if (legacy ? isLegacyJsonRpcMethod(method) : isV1JsonRpcMethod(method)) return undefined;
  if (legacy && isV1JsonRpcMethod(method))
    return `${name} is a method of A2A 1.0: send the header "A2A-Version: 1.0" with it.`;
  if (!legacy && isLegacyJsonRpcMethod(method))
    return `${name} is a method of A2A 0.3: send it without the header "A2A-Version".`;
  return `There is no method ${name}.`;
}
