/** The exit codes of the commands, by which a script recognizes the outcome. */
import { EXIT_CONFIGURATION, EXIT_FAILURE, EXIT_USAGE } from '../../../shared/runtime/exit-codes.ts';
import { ProductError, type ErrorReason } from '../../../shared/runtime/errors.ts';
import { hasEnded, type TaskView } from '../../sessions/session/observed-task.ts';

/** The session, call, agent or command of an agent does not exist, or the prefix is not unique. */
const EXIT_UNKNOWN = 3;
/** The agent refused the request, e.g. because the action was already decided, has changed, or the task has ended. */
export const EXIT_REFUSED = 4;
/** The task failed, was rejected or was cancelled. */
export const EXIT_TASK_FAILED = 5;
export const EXIT_TASK_WAITS = 6;
/** An agent or the local server cannot be reached (sysexits.h EX_UNAVAILABLE). */
export const EXIT_UNAVAILABLE = 69;
/** The agent refuses the credentials (sysexits.h EX_NOPERM). */
const EXIT_CREDENTIALS = 77;

/** The meaning of each exit code. `--help` and docs/cli.md show this table. */
export const EXIT_MEANINGS: readonly (readonly [number, string])[] = [
  [0, 'it was done'],
  [
    EXIT_FAILURE,
    'another failure; nothing was decided or written. Or doctor or agents check found a problem, agents import did not add every agent, or the output was not written',
  ],
  [EXIT_USAGE, 'the command line is not understood, or there is no terminal for a question and no --yes'],
  [EXIT_UNKNOWN, 'no such session, call, agent or command of an agent, or a prefix that names several'],
  [EXIT_REFUSED, 'refused: decided before, changed since it was shown, ended, or not running'],
  [EXIT_TASK_FAILED, 'the task that was run or watched failed, or was rejected or cancelled'],
  [EXIT_TASK_WAITS, 'the task that was run or watched waits for a person'],
  [EXIT_UNAVAILABLE, 'an agent or the local server cannot be reached, or is overloaded'],
  [EXIT_CREDENTIALS, 'the agent does not accept the token, or the token does not allow this'],
  [EXIT_CONFIGURATION, 'the settings, or a configuration file, are not valid'],
];

/** The command line is not valid, or asks for something that is not possible. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const BY_REASON: Partial<Record<ErrorReason, number>> = {
  MALFORMED: EXIT_USAGE,
  INVALID_CURSOR: EXIT_USAGE,
  UNKNOWN_SESSION: EXIT_UNKNOWN,
  UNKNOWN_TASK: EXIT_UNKNOWN,
  UNKNOWN_CALL: EXIT_UNKNOWN,
  UNKNOWN_GRANT: EXIT_UNKNOWN,
  UNKNOWN_TOOL_EXECUTION: EXIT_REFUSED,
  UNKNOWN_AGENT: EXIT_UNKNOWN,
  UNKNOWN_COMMAND: EXIT_UNKNOWN,
  SESSION_BUSY: EXIT_REFUSED,
  ALREADY_DECIDED: EXIT_REFUSED,
  INVALID_DECISION: EXIT_REFUSED,
  INPUT_CHANGED: EXIT_REFUSED,
  PRESENCE_REQUIRED: EXIT_REFUSED,
  OTHER_APPROVER_REQUIRED: EXIT_REFUSED,
  DECISION_NEEDED: EXIT_REFUSED,
  TASK_ENDED: EXIT_REFUSED,
  MESSAGE_CONFLICT: EXIT_REFUSED,
  TASK_GENERATION_MISMATCH: EXIT_REFUSED,
  AGENT_UNREACHABLE: EXIT_UNAVAILABLE,
  LIMIT_REACHED: EXIT_UNAVAILABLE,
  OVERLOADED: EXIT_UNAVAILABLE,
  SHUTTING_DOWN: EXIT_UNAVAILABLE,
  UNAUTHENTICATED: EXIT_CREDENTIALS,
  FORBIDDEN: EXIT_CREDENTIALS,
  CONFIGURATION: EXIT_CONFIGURATION,
};

export function taskExitCode(view: TaskView): number {
  if (!hasEnded(view)) return EXIT_TASK_WAITS;
  return view.state === 'completed' ? 0 : EXIT_TASK_FAILED;
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT_USAGE;
  return (error instanceof ProductError ? BY_REASON[error.reason] : undefined) ?? EXIT_FAILURE;
}

/**
 * Returns the exit code of a command that could use no agent. If every agent refused the token, another attempt cannot
 * help, so the code is `EXIT_CREDENTIALS`. Otherwise it is `EXIT_UNAVAILABLE`.
 */
export function unreachableAgentsExitCode(failures: readonly { reason: ErrorReason }[]): number {
  const refused =
    failures.length > 0 && failures.every(({ reason }) => BY_REASON[reason] === EXIT_CREDENTIALS);
  return refused ? EXIT_CREDENTIALS : EXIT_UNAVAILABLE;
}
