/**
 * The typed errors of both programs, and functions that read other errors. A client reads the name of an error as
 * `reason` in the `ErrorInfo` of an A2A error.
 */
import { fieldOf } from './record.ts';

/** The names of all errors. docs/errors.md has what each means. */
export const ERROR_REASONS = [
  /** The request is not valid. Correct what the message names. */
  'MALFORMED',
  /** The request has more bytes than the server accepts. Send less. */
  'TOO_LARGE',
  /** The request has no valid token. Send one, or create another. */
  'UNAUTHENTICATED',
  /** The token does not allow this. Ask the operator for a role that does. */
  'FORBIDDEN',
  /** The server has no such route. Correct the path. */
  'UNKNOWN_ADDRESS',
  /** The route exists, but not for this HTTP method. `Allow` has the methods. */
  'METHOD_NOT_ALLOWED',
  /** No session with this id is visible to the token. List the sessions. */
  'UNKNOWN_SESSION',
  /** No task with this id is visible to the token, or it was deleted. List the tasks. */
  'UNKNOWN_TASK',
  /** The task has no such call. Read the task again. */
  'UNKNOWN_CALL',
  /** The task has no such grant. Read the task again. */
  'UNKNOWN_GRANT',
  /** No tool execution with this id runs. It may have ended. */
  'UNKNOWN_TOOL_EXECUTION',
  /** The settings have no agent with this name. The message lists the names. */
  'UNKNOWN_AGENT',
  /** The agent has no such model. The message lists the models. */
  'UNKNOWN_MODEL',
  /** The directory does not exist, or no task may use it. Name another one. */
  'UNKNOWN_WORKSPACE',
  /** The agent has no such command or tool. List the commands. */
  'UNKNOWN_COMMAND',
  /** A task of the session has not ended. Wait for it, or cancel it. */
  'SESSION_BUSY',
  /** Another decision was first. The facts name it; nothing is left to do. */
  'ALREADY_DECIDED',
  /** The decision does not fit the action. Correct what the message names. */
  'INVALID_DECISION',
  /** The action has changed since it was shown. Show it again, and decide on that. */
  'INPUT_CHANGED',
  /** A rule demands a passkey. Decide on the server's page. */
  'PRESENCE_REQUIRED',
  /** Another person must approve this action. The message says who can. */
  'OTHER_APPROVER_REQUIRED',
  /** The task waits for a decision, and takes no other message. Decide first. */
  'DECISION_NEEDED',
  /** The task has ended. A message to its session starts the next task. */
  'TASK_ENDED',
  /** Another message has the same id. Send the message with a new id. */
  'MESSAGE_CONFLICT',
  /** The cursor is no position of this task. The fact `last` has the last position. */
  'INVALID_CURSOR',
  /** The agent does not take this type of content. Send another type. */
  'UNSUPPORTED_CONTENT',
  /** The path leads out of the workspace. Use a path in it. */
  'OUTSIDE_WORKSPACE',
  /** The settings cannot work. Correct the setting that the message names. */
  'CONFIGURATION',
  /** The principal has reached a limit. Repeat the request after `Retry-After`. */
  'LIMIT_REACHED',
  /** The server has reached a limit. Repeat the request after `Retry-After`. */
  'OVERLOADED',
  /** The server cannot store or read its data. Repeat the request; the server's log has the cause. */
  'STORAGE',
  /** The server stops. Repeat the request when it runs again. */
  'SHUTTING_DOWN',
  /** The agent does not answer. Check its address, then repeat the request. */
  'AGENT_UNREACHABLE',
  /** The agent answered with an error or with invalid data. The message has its text. */
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
