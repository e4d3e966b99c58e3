/**
 * Refuses requests to addresses, or with methods, that this server does not have. The error message names the valid
 * addresses or methods.
 */
import type { RequestHandler } from 'express';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { parseA2aVersion } from '../wire/json-rpc-envelope.ts';
import { allowedMethods } from './methods-and-roles.ts';

export const unknownAddress: RequestHandler = (request, response) => {
  const { version } = parseA2aVersion(request.header('A2A-Version'));
  const path = `${request.baseUrl}${request.path}`;
  const allowed = allowedMethods(path, version);
  const address = visibleLine(path.slice(0, 200));
  if (allowed.length === 0)
    throw new ProductError(
      'UNKNOWN_ADDRESS',
      `There is nothing at ${address}. JSON-RPC is at POST /, HTTP+JSON at /message:send, /message:stream and /tasks, the events of a task at GET /api/tasks/{id}/events.`,
    );
  response.setHeader('Allow', allowed.join(', '));
  throw new ProductError(
    'METHOD_NOT_ALLOWED',
    `${address} takes ${allowed.join(', ')}, not ${request.method}.`,
  );
};
