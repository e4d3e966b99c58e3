/**
 * The typed errors of both programs, and functions that read other errors. In an A2A error, the name of the error is
 * the `reason` of the `ErrorInfo`.
 */
import { fieldOf } from './record.ts';

/** The names of all errors. docs/errors.md explains each. */
export const ERROR_REASONS = [
  /** The request is not valid. Correct what the message names. */
  'MALFORMED',
  /** The request has more bytes than the server accepts. Send less. */
  'TOO_LARGE',
  /** The request has no valid token. Send one, or create another. */
  'UNAUTHENTICATED',
  /** The token does not allow this request. Ask the operator for a token with a role that allows it. */
  'FORBIDDEN',
  /** The server has no such route. Correct the path. */
  'UNKNOWN_ADDRESS',
  /** The route exists, but not for this HTTP method. The header `Allow` lists the methods. */
  'METHOD_NOT_ALLOWED',
  /** No session with this id is visible to the token. List the sessions. */
  'UNKNOWN_SESSION',
  /** No task with this id is visible to the token, or it was deleted. List the tasks. */
  'UNKNOWN_TASK',
  /** The task has no tool call with this id. Read the task again. */
  'UNKNOWN_CALL',
  /** The task has no grant with this id. Read the task again. */
  'UNKNOWN_GRANT',
  /** No tool execution with this id runs. It may have ended. */
  'UNKNOWN_TOOL_EXECUTION',
  /** The settings have no agent with this name. The message lists the names. */
  'UNKNOWN_AGENT',
  /** The agent has no model with this name. The message lists the models. */
  'UNKNOWN_MODEL',
  /** The directory does not exist, or no task may use it. Name another directory. */
  'UNKNOWN_WORKSPACE',
  /** The agent has no command or tool with this name. List the commands. */
  'UNKNOWN_COMMAND',
  /** A task of the session has not ended. Wait for it, or cancel it. */
  'SESSION_BUSY',
  /** Another decision was first. The facts of the error name it. Do nothing. */
  'ALREADY_DECIDED',
  /** The decision does not fit the pending action. Correct what the message names. */
  'INVALID_DECISION',
  /** The pending action has changed since the person saw it. Show the action again, and decide again. */
  'INPUT_CHANGED',
  /** A rule demands a passkey for this approval. Decide on the server's page. */
  'PRESENCE_REQUIRED',
  /** Another person must approve this action. The message says who can. */
  'OTHER_APPROVER_REQUIRED',
  /** The task waits for a decision and accepts no other message. Decide first. */
  'DECISION_NEEDED',
  /** The task has ended. Send a message to its session to start the next task. */
  'TASK_ENDED',
  /** Another message has the same id. Send the message with a new id. */
  'MESSAGE_CONFLICT',
  /** The cursor is not a position in this task's journal. The fact `last` contains the last position. */
  'INVALID_CURSOR',
  /**
   * The task does not have the generation that the message expects. Get the task, and decide whether the message still
   * fits.
   */
  'TASK_GENERATION_MISMATCH',
  /** The agent does not accept this type of content. Send another type. */
  'UNSUPPORTED_CONTENT',
  /** The path leads out of the workspace. Use a path inside it. */
  'OUTSIDE_WORKSPACE',
  /** The settings cannot work. Correct the setting that the message names. */
  'CONFIGURATION',
  /** The user has reached a limit. Repeat the request after the time in `Retry-After`. */
  'LIMIT_REACHED',
  /** The server has reached a limit. Repeat the request after the time in `Retry-After`. */
  'OVERLOADED',
  /** The server cannot store or read its data. Repeat the request. The server's log names the cause. */
  'STORAGE',
  /** The server is shutting down. Repeat the request when the server runs again. */
  'SHUTTING_DOWN',
  /** The agent does not answer. Check its address, then repeat the request. */
  'AGENT_UNREACHABLE',
  /** The agent answered with an error or with invalid data. The message contains the agent's text. */
  'AGENT_ERROR',
] as const;

export type ErrorReason = (typeof ERROR_REASONS)[number];

/** The errors after which the same request may succeed later without a change. */
const RETRYABLE: ReadonlySet<ErrorReason> = new Set([
  'LIMIT_REACHED',
  'OVERLOADED',
  'STORAGE',
  'SHUTTING_DOWN',
  'AGENT_UNREACHABLE',
]);

/**
 * Details of an error that a program can use, e.g. `{ firstDecision: 'approve' }`. All values are strings, as in
 * `ErrorInfo.metadata`.
 */
export type ErrorFacts = Readonly<Record<string, string>>;

/**
 * An error with a reason (its name), a message that tells a person what to do next, and facts for a program. The pure
 * functions of `a2a-server/task/` return a `CommandRefusal` with the same content instead of throwing.
 */
export class ProductError extends Error {
  override readonly name = 'ProductError';
  readonly reason: ErrorReason;
  readonly facts: ErrorFacts;

  constructor(reason: ErrorReason, message: string, options: { facts?: ErrorFacts; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.facts = options.facts ?? {};
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.reason);
  }
}

/** Returns true if a server refused the request because it or the user has reached a limit. */
export function isLimitRefusal(error: unknown): error is ProductError {
  return error instanceof ProductError && (error.reason === 'LIMIT_REACHED' || error.reason === 'OVERLOADED');
}

export function errorMessageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the code of an error, e.g. `ENOENT`. Reads the field `code` without a check of the class, because the error
 * may come from another JavaScript realm.
 */
export function errorCode(error: unknown): string | undefined {
  const code = fieldOf(error, 'code');
  return typeof code === 'string' ? code : undefined;
}
