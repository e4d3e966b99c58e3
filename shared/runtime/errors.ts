/**
 * The typed errors of both programs, and functions that read other errors. A client reads the name of an error as
 * `reason` in the `ErrorInfo` of an A2A error.
 */
import { fieldOf } from './record.ts';

/** `retryable` means that the same request, unchanged, may succeed later. */
export const ERROR_REASONS = {
  MALFORMED: { retryable: false },
  TOO_LARGE: { retryable: false },
  UNAUTHENTICATED: { retryable: false },
  FORBIDDEN: { retryable: false },
  UNKNOWN_ADDRESS: { retryable: false },
  METHOD_NOT_ALLOWED: { retryable: false },
  UNKNOWN_SESSION: { retryable: false },
  UNKNOWN_TASK: { retryable: false },
  UNKNOWN_CALL: { retryable: false },
  UNKNOWN_GRANT: { retryable: false },
  UNKNOWN_TOOL_EXECUTION: { retryable: false },
  UNKNOWN_AGENT: { retryable: false },
  UNKNOWN_MODEL: { retryable: false },
  UNKNOWN_WORKSPACE: { retryable: false },
  UNKNOWN_COMMAND: { retryable: false },
  SESSION_BUSY: { retryable: false },
  ALREADY_DECIDED: { retryable: false },
  INVALID_DECISION: { retryable: false },
  INPUT_CHANGED: { retryable: false },
  PRESENCE_REQUIRED: { retryable: false },
  OTHER_APPROVER_REQUIRED: { retryable: false },
  DECISION_NEEDED: { retryable: false },
  TASK_ENDED: { retryable: false },
  MESSAGE_CONFLICT: { retryable: false },
  INVALID_CURSOR: { retryable: false },
  UNSUPPORTED_CONTENT: { retryable: false },
  OUTSIDE_WORKSPACE: { retryable: false },
  CONFIGURATION: { retryable: false },
  LIMIT_REACHED: { retryable: true },
  OVERLOADED: { retryable: true },
  STORAGE: { retryable: true },
  SHUTTING_DOWN: { retryable: true },
  AGENT_UNREACHABLE: { retryable: true },
  AGENT_ERROR: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type Reason = keyof typeof ERROR_REASONS;

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
    return ERROR_REASONS[this.reason].retryable;
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
