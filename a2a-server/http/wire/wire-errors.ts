/**
 * Converts a ProductError to an A2A error, for both bindings and both versions (A2A 1.0 §5.4).
 *
 * Each error contains a `google.rpc.ErrorInfo`. Its `metadata` has the product's `reason`, the flag `retryable`, and
 * the facts. JSON-RPC (also 0.3) sends the ErrorInfo in `error.data`. HTTP+JSON sends it in `error.details`.
 */
import { INVALID_REQUEST } from '../../../shared/net/json-rpc-codes.ts';
import {
  A2A_ERROR_CODE,
  A2AError,
  JsonRpcContentTypeNotSupportedError,
  JsonRpcRequestMalformedError,
  JsonRpcTaskNotCancelableError,
  JsonRpcTaskNotFoundError,
  JsonRpcTransportError,
  JsonRpcUnsupportedOperationError,
  restStatusFor,
  RestContentTypeNotSupportedError,
  RestRequestMalformedError,
  RestTaskNotCancelableError,
  RestTaskNotFoundError,
  RestUnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { JsonRpcA2AErrorOptions, RestA2AErrorOptions } from '@a2a-js/sdk/errors';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { ErrorReason } from '../../../shared/runtime/errors.ts';

export type WireFormat = 'jsonrpc' | 'jsonrpc-0.3' | 'rest';

const CLASSES = {
  malformed: { rpc: JsonRpcRequestMalformedError, rest: RestRequestMalformedError },
  'not-found': { rpc: JsonRpcTaskNotFoundError, rest: RestTaskNotFoundError },
  'not-cancelable': { rpc: JsonRpcTaskNotCancelableError, rest: RestTaskNotCancelableError },
  unsupported: { rpc: JsonRpcUnsupportedOperationError, rest: RestUnsupportedOperationError },
  'content-type': { rpc: JsonRpcContentTypeNotSupportedError, rest: RestContentTypeNotSupportedError },
  // A2A has no type for these errors, so their `ErrorInfo.reason` is the product's reason.
  own: { rpc: JsonRpcRequestMalformedError, rest: RestRequestMalformedError },
} as const;

type Kind = keyof typeof CLASSES | 'internal';

interface Row {
  kind: Kind;
  /**
   * The HTTP status over HTTP+JSON. JSON-RPC uses this status only for a refusal by a limit, and for an error outside
   * the JSON-RPC handler (`error-response.ts`).
   */
  http: number;
  /** The JSON-RPC code, if it differs from the code of the A2A error type. */
  code?: number;
}

const { INTERNAL_ERROR, UNSUPPORTED_OPERATION } = A2A_ERROR_CODE;

/** The usual time of a restart of the server or of its database, in seconds. */
const RESTART_S = '2';

/** The HTTP status of a refusal after which a client should try again, and its `Retry-After` (RFC 9110 §10.2.3). */
export interface RetryLater {
  status: number;
  retryAfter: string;
}

export function httpStatusOf(error: unknown): number {
  if (error instanceof ProductError) return WIRE_ERRORS[error.reason].http;
  return error instanceof A2AError ? restStatusFor(error) : 500;
}

/** Returns the status and the `Retry-After` of a refusal with 429 or 503. Undefined for other errors. */
export function retryLaterOf(error: unknown): RetryLater | undefined {
  const status = httpStatusOf(error);
  if (status !== 429 && status !== 503) return undefined;
  const facts = error instanceof A2AError ? error.metadata : error instanceof ProductError ? error.facts : {};
  return { status, retryAfter: facts?.['retryAfter'] ?? RESTART_S };
}

export const WIRE_ERRORS: { readonly [R in ErrorReason]: Row } = {
  MALFORMED: { kind: 'malformed', http: 400 },
  TOO_LARGE: { kind: 'own', http: 413, code: INVALID_REQUEST },
  UNAUTHENTICATED: { kind: 'own', http: 401, code: INVALID_REQUEST },
  FORBIDDEN: { kind: 'own', http: 403, code: INVALID_REQUEST },
  UNKNOWN_ADDRESS: { kind: 'own', http: 404, code: INVALID_REQUEST },
  METHOD_NOT_ALLOWED: { kind: 'own', http: 405, code: INVALID_REQUEST },
  UNKNOWN_SESSION: { kind: 'own', http: 404 },
  UNKNOWN_TASK: { kind: 'not-found', http: 404 },
  UNKNOWN_CALL: { kind: 'malformed', http: 400 },
  UNKNOWN_GRANT: { kind: 'malformed', http: 400 },
  UNKNOWN_TOOL_EXECUTION: { kind: 'own', http: 404 },
  UNKNOWN_AGENT: { kind: 'malformed', http: 400 },
  UNKNOWN_MODEL: { kind: 'malformed', http: 400 },
  UNKNOWN_WORKSPACE: { kind: 'malformed', http: 400 },
  UNKNOWN_COMMAND: { kind: 'malformed', http: 400 },
  SESSION_BUSY: { kind: 'own', http: 409, code: UNSUPPORTED_OPERATION },
  ALREADY_DECIDED: { kind: 'unsupported', http: 400 },
  INVALID_DECISION: { kind: 'malformed', http: 400 },
  INPUT_CHANGED: { kind: 'unsupported', http: 400 },
  PRESENCE_REQUIRED: { kind: 'unsupported', http: 400 },
  OTHER_APPROVER_REQUIRED: { kind: 'unsupported', http: 400 },
  DECISION_NEEDED: { kind: 'unsupported', http: 400 },
  // A2A 1.0 §3.1.1: UnsupportedOperationError for a message to an ended task. A cancel has a different error (§3.1.5).
  TASK_ENDED: { kind: 'unsupported', http: 400 },
  MESSAGE_CONFLICT: { kind: 'own', http: 409 },
  INVALID_CURSOR: { kind: 'malformed', http: 400 },
  // A2A 1.0 has no type for this error. It is in §5.4 of the A2A branch dev-1.1.
  TASK_GENERATION_MISMATCH: { kind: 'own', http: 409, code: -32010 },
  UNSUPPORTED_CONTENT: { kind: 'content-type', http: 400 },
  OUTSIDE_WORKSPACE: { kind: 'malformed', http: 400 },
  CONFIGURATION: { kind: 'internal', http: 500 },
  LIMIT_REACHED: { kind: 'internal', http: 429 },
  OVERLOADED: { kind: 'internal', http: 503 },
  STORAGE: { kind: 'internal', http: 503 },
  SHUTTING_DOWN: { kind: 'internal', http: 503 },
  AGENT_UNREACHABLE: { kind: 'internal', http: 502 },
  AGENT_ERROR: { kind: 'internal', http: 502 },
};

/** An internal error over HTTP+JSON, with the HTTP status of its reason. */
class InternalError extends A2AError {
  readonly transport = 'rest';
  readonly statusCode: number;

  constructor(message: string, statusCode: number, metadata: Record<string, string>) {
    super({ message, metadata });
    this.name = 'A2AError';
    this.statusCode = statusCode;
  }
}

/** Returns the error for a cancel of an ended task (A2A 1.0 §3.1.5). */
export function notCancelableError(error: ProductError, wire: WireFormat): A2AError {
  return asRow({ kind: 'not-cancelable', http: 400 }, error, wire);
}

/** Returns the error for a body that is not JSON or not a valid request. */
export function unparsableError(error: ProductError, wire: WireFormat, code: number): A2AError {
  return asRow({ kind: 'malformed', http: 400, code }, error, wire);
}

/** Converts an error for the SDK's handlers. A2A errors stay unchanged. Unexpected errors get a general text. */
export function toWireError(error: unknown, wire: WireFormat): A2AError {
  if (error instanceof A2AError) return error;
  if (error instanceof ProductError) return asRow(WIRE_ERRORS[error.reason], error, wire);
  return toInternalError(
    { message: 'The server had an unexpected error. See its log.', http: 500, metadata: {} },
    wire,
  );
}

function asRow({ kind, http, code }: Row, error: ProductError, wire: WireFormat): A2AError {
  const { message } = error;
  const metadata = { ...error.facts, reason: error.reason, retryable: String(error.retryable) };
  const own = kind === 'own' || kind === 'internal' ? { reason: error.reason } : {};
  if (kind === 'internal') return toInternalError({ message, http, metadata, own }, wire);
  if (wire === 'rest') {
    const options: RestA2AErrorOptions = { message, metadata, statusCode: http, cause: error };
    return Object.assign(new CLASSES[kind].rest(options), own);
  }
  const options: JsonRpcA2AErrorOptions = {
    message,
    metadata,
    cause: error,
    ...(code !== undefined && { envelopeCode: code }),
  };
  const modern = Object.assign(new CLASSES[kind].rpc(options), own);
  // Only an error for A2A 0.3 needs `data` here, because the SDK's 0.3 handler sends `data` unchanged. Its 1.0
  // handler builds `data` from the metadata.
  return wire === 'jsonrpc' ? modern : new CLASSES[kind].rpc({ ...options, data: [modern.toErrorInfo()] });
}

interface InternalFailure {
  message: string;
  http: number;
  metadata: Record<string, string>;
  own?: { reason?: ErrorReason };
}

function toInternalError({ message, http, metadata, own = {} }: InternalFailure, wire: WireFormat): A2AError {
  if (wire === 'rest') return Object.assign(new InternalError(message, http, metadata), own);
  const modern = Object.assign(new A2AError({ message, metadata }), own);
  if (wire === 'jsonrpc') return modern;
  return new JsonRpcTransportError({
    jsonrpc: '2.0',
    id: null,
    error: { code: INTERNAL_ERROR, message, data: [modern.toErrorInfo()] },
  });
}
