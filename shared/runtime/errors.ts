/**
 * The typed errors of both programs, and functions that read other errors. A client reads the name of an error as
 * `reason` in the `ErrorInfo` of an A2A error.
 */
import { fieldOf } from './record.ts';

/** The names of all errors. */
export const ERROR_REASONS = [
  'MALFORMED',
  'TOO_LARGE',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'UNKNOWN_ADDRESS',
  'METHOD_NOT_ALLOWED',
  'UNKNOWN_SESSION',
  'UNKNOWN_TASK',
  'UNKNOWN_CALL',
  'UNKNOWN_GRANT',
  'UNKNOWN_TOOL_EXECUTION',
  'UNKNOWN_AGENT',
  'UNKNOWN_MODEL',
  'UNKNOWN_WORKSPACE',
  'UNKNOWN_COMMAND',
  'SESSION_BUSY',
  'ALREADY_DECIDED',
  'INVALID_DECISION',
  'INPUT_CHANGED',
  'PRESENCE_REQUIRED',
  'OTHER_APPROVER_REQUIRED',
  'DECISION_NEEDED',
  'TASK_ENDED',
  'MESSAGE_CONFLICT',
  'INVALID_CURSOR',
  'UNSUPPORTED_CONTENT',
  'OUTSIDE_WORKSPACE',
  'CONFIGURATION',
  'LIMIT_REACHED',
  'OVERLOADED',
  'STORAGE',
  'SHUTTING_DOWN',
  'AGENT_UNREACHABLE',
  'AGENT_ERROR',
] as const;

export type Reason = (typeof ERROR_REASONS)[number];

/** The same request, unchanged, may succeed later. */
const RETRYABLE: ReadonlySet<Reason> = new Set([
  'LIMIT_REACHED',
  'OVERLOADED',
  'STORAGE',
  'SHUTTING_DOWN',
  'AGENT_UNREACHABLE',
]);

/**
 * Details of an error that a program may read, e.g. `{ firstDecision: 'approve' }`. On the wire, values are strings.
 */
export type Facts = Readonly<Record<string, string>>;

/**
 * An error with a reason, a message that tells a person what to do next, and facts for a program. The pure core returns
 * a `CommandRefusal` value with the same content instead.
 */
export class ProductError extends Error {
  override readonly name = 'ProductError';
  readonly reason: Reason;
  readonly facts: Facts;

  constructor(reason: Reason, message: string, options: { facts?: Facts; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.facts = options.facts ?? {};
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.reason);
  }
}

/** True if a server refused the request because one of its limits is reached. */
export function isLimitRefusal(error: unknown): error is ProductError {
  return error instanceof ProductError && (error.reason === 'LIMIT_REACHED' || error.reason === 'OVERLOADED');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the error code, e.g. `ENOENT`. Checks the shape and not the class, because the error may come from another
 * realm.
 */
export function systemErrorCode(error: unknown): string | undefined {
  const code = fieldOf(error, 'code');
  return typeof code === 'string' ? code : undefined;
}
