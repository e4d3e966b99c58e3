/**
 * The errors of both programs, named by what went wrong and split by what the caller can do about them.
 * Each crosses the wire as `reason` of an A2A error's `ErrorInfo`, so that a client can tell them apart.
 */

/** Every reason, with whether the same request may succeed later without being changed. */
export const REASONS = {
  MALFORMED: { retryable: false },
  TOO_LARGE: { retryable: false },
  UNAUTHENTICATED: { retryable: false },
  FORBIDDEN: { retryable: false },
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
  DECISION_NEEDED: { retryable: false },
  TASK_ENDED: { retryable: false },
  MESSAGE_CONFLICT: { retryable: false },
  INVALID_CURSOR: { retryable: false },
  UNSUPPORTED_CONTENT: { retryable: false },
  OUTSIDE_WORKSPACE: { retryable: false },
  CONFIGURATION: { retryable: false },
  STORAGE: { retryable: true },
  SHUTTING_DOWN: { retryable: true },
  AGENT_UNREACHABLE: { retryable: true },
  AGENT_ERROR: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type Reason = keyof typeof REASONS;

/** A fact of the refusal that a program may read, e.g. `{ firstDecision: 'approve' }`. Values are strings on the wire. */
export type Facts = Readonly<Record<string, string>>;

/**
 * A failure with a name, a sentence for a person that says what to do next, and facts for a program.
 * Thrown at the edges; the pure core returns the same content as a `Refusal` value.
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
    return REASONS[this.reason].retryable;
  }
}

/** The sentence of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
