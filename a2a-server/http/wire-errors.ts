/**
 * ProductError → A2A error, one table for both bindings and both versions (A2A 1.0 §5.4).
 *
 * Whatever the binding, the error carries a `google.rpc.ErrorInfo` whose `metadata` holds the product's own `reason`,
 * whether the request is `retryable`, and the facts: in `error.data` over JSON-RPC (0.3 too), in `error.details` over
 * HTTP+JSON.
 */
import {
  A2AError,
  JsonRpcContentTypeNotSupportedError,
  JsonRpcRequestMalformedError,
  JsonRpcTaskNotCancelableError,
  JsonRpcTaskNotFoundError,
  JsonRpcTransportError,
  JsonRpcUnsupportedOperationError,
  RestContentTypeNotSupportedError,
  RestRequestMalformedError,
  RestTaskNotCancelableError,
  RestTaskNotFoundError,
  RestUnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { JsonRpcA2AErrorOptions, RestA2AErrorOptions } from '@a2a-js/sdk/errors';
import { ProductError } from '../../shared/errors.ts';
import type { Reason } from '../../shared/errors.ts';

/** How an answer is put on the wire. */
export type Wire = 'jsonrpc' | 'jsonrpc-0.3' | 'rest';

const CLASSES = {
  malformed: { rpc: JsonRpcRequestMalformedError, rest: RestRequestMalformedError },
  'not-found': { rpc: JsonRpcTaskNotFoundError, rest: RestTaskNotFoundError },
  'not-cancelable': { rpc: JsonRpcTaskNotCancelableError, rest: RestTaskNotCancelableError },
  unsupported: { rpc: JsonRpcUnsupportedOperationError, rest: RestUnsupportedOperationError },
  'content-type': { rpc: JsonRpcContentTypeNotSupportedError, rest: RestContentTypeNotSupportedError },
} as const;

type Kind = keyof typeof CLASSES | 'internal';

interface Row {
  kind: Kind;
  /** The status over HTTP+JSON; over JSON-RPC too where the request was turned away before it was read. */
  http: number;
  /** The JSON-RPC code, where the A2A type's own would mislead. */
  code?: number;
}

/** JSON-RPC 2.0 §5.1: not a valid request object. */
export const INVALID_REQUEST = -32600;
/** JSON-RPC 2.0 §5.1: not JSON. */
export const PARSE_ERROR = -32700;
const INTERNAL_ERROR = -32603;

export const WIRE_ERRORS: { readonly [R in Reason]: Row } = {
  MALFORMED: { kind: 'malformed', http: 400 },
  TOO_LARGE: { kind: 'malformed', http: 413, code: INVALID_REQUEST },
  UNAUTHENTICATED: { kind: 'malformed', http: 401, code: INVALID_REQUEST },
  FORBIDDEN: { kind: 'malformed', http: 403, code: INVALID_REQUEST },
  UNKNOWN_SESSION: { kind: 'malformed', http: 404 },
  UNKNOWN_TASK: { kind: 'not-found', http: 404 },
  UNKNOWN_CALL: { kind: 'malformed', http: 400 },
  UNKNOWN_GRANT: { kind: 'malformed', http: 400 },
  UNKNOWN_TOOL_EXECUTION: { kind: 'malformed', http: 404 },
  UNKNOWN_AGENT: { kind: 'malformed', http: 400 },
  UNKNOWN_MODEL: { kind: 'malformed', http: 400 },
  UNKNOWN_WORKSPACE: { kind: 'malformed', http: 400 },
  UNKNOWN_COMMAND: { kind: 'malformed', http: 400 },
  SESSION_BUSY: { kind: 'unsupported', http: 409 },
  ALREADY_DECIDED: { kind: 'unsupported', http: 400 },
  INVALID_DECISION: { kind: 'malformed', http: 400 },
  INPUT_CHANGED: { kind: 'unsupported', http: 400 },
  DECISION_NEEDED: { kind: 'unsupported', http: 400 },
  // A2A 1.0 §3.1.1: a message to an ended task is an UnsupportedOperationError; cancelling one is not (§3.1.5).
  TASK_ENDED: { kind: 'unsupported', http: 400 },
  MESSAGE_CONFLICT: { kind: 'malformed', http: 409 },
  INVALID_CURSOR: { kind: 'malformed', http: 400 },
  UNSUPPORTED_CONTENT: { kind: 'content-type', http: 400 },
  OUTSIDE_WORKSPACE: { kind: 'malformed', http: 400 },
  CONFIGURATION: { kind: 'internal', http: 500 },
  STORAGE: { kind: 'internal', http: 503 },
  SHUTTING_DOWN: { kind: 'internal', http: 503 },
  AGENT_UNREACHABLE: { kind: 'internal', http: 502 },
  AGENT_ERROR: { kind: 'internal', http: 502 },
};

/** An error no A2A type describes; over HTTP+JSON with a status of its own. */
class InternalError extends A2AError {
  readonly transport = 'rest';
  readonly statusCode: number;

  constructor(message: string, statusCode: number, metadata: Record<string, string>) {
    super({ message, metadata });
    this.name = 'A2AError';
    this.statusCode = statusCode;
  }
}

/** Cancelling a task that has ended (A2A 1.0 §3.1.5). */
export function notCancelable(error: ProductError, wire: Wire): A2AError {
  return asRow({ kind: 'not-cancelable', http: 400 }, error, wire);
}

/** A body that is no JSON, or not the JSON of a request. */
export function unparsable(error: ProductError, wire: Wire, code: number): A2AError {
  return asRow({ kind: 'malformed', http: 400, code }, error, wire);
}

/** What to throw at the SDK's transport handlers. Its own errors pass; anything unforeseen keeps its words to itself. */
export function toWireError(error: unknown, wire: Wire): A2AError {
  if (error instanceof A2AError) return error;
  if (error instanceof ProductError) return asRow(WIRE_ERRORS[error.reason], error, wire);
  return internal('The server met an error it did not expect; its log says more.', 500, {}, wire);
}

function asRow({ kind, http, code }: Row, error: ProductError, wire: Wire): A2AError {
  const { message } = error;
  const metadata = { ...error.facts, reason: error.reason, retryable: String(error.retryable) };
  if (kind === 'internal') return internal(message, http, metadata, wire);
  if (wire === 'rest') {
    const options: RestA2AErrorOptions = { message, metadata, statusCode: http, cause: error };
    return new CLASSES[kind].rest(options);
  }
  const options: JsonRpcA2AErrorOptions = {
    message,
    metadata,
    cause: error,
    ...(code !== undefined && { envelopeCode: code }),
  };
  const modern = new CLASSES[kind].rpc(options);
  // The 0.3 handler sends `data` as it finds it, the 1.0 handler makes it from the metadata.
  return wire === 'jsonrpc' ? modern : new CLASSES[kind].rpc({ ...options, data: [modern.toErrorInfo()] });
}

function internal(message: string, status: number, metadata: Record<string, string>, wire: Wire): A2AError {
  if (wire === 'rest') return new InternalError(message, status, metadata);
  const modern = new A2AError({ message, metadata });
  if (wire === 'jsonrpc') return modern;
  return new JsonRpcTransportError({
    jsonrpc: '2.0',
    id: null,
    error: { code: INTERNAL_ERROR, message, data: [modern.toErrorInfo()] },
  });
}
