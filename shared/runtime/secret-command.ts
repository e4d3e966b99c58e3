import { execFile, type ExecFileException } from 'node:child_process';
import { errorCode } from './errors.ts';

/**
 * The default time limit of the command in milliseconds. It is long, because a person may have to unlock a password
 * manager.
 */
const TIME_LIMIT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * Thrown if the command fails. The message never contains the command's output, because the output may be the secret.
 */
export class SecretCommandError extends Error {
  /** False if a later attempt may succeed, e.g. after the person has unlocked the password manager. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.permanent = permanent;
  }
}

/**
 * Runs a command without a shell, e.g. a password manager, and returns its stdout.
 * @throws SecretCommandError
 */
export function readSecretFromCommand(
  [program = '', ...args]: readonly string[],
  limitMs = TIME_LIMIT_MS,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
    const child = execFile(program, args, options, (error, stdout) => {
      if (error === null) resolve(stdout.trim());
      else reject(failureOf(error, limitMs));
    });
    // Closes the command's stdin. The command must not read the stdin of this process, because the MCP client writes
    // there.
    child.stdin?.end();
  });
}

const CANNOT_RUN: Readonly<Record<string, string>> = {
  ENOENT: 'was not found',
  EACCES: 'may not be run by this user',
};

function failureOf(error: ExecFileException, limitMs: number): SecretCommandError {
  if (typeof error.code === 'number')
    return new SecretCommandError(`ended with exit code ${String(error.code)}`, false);
  const code = errorCode(error) ?? '';
  const reason = CANNOT_RUN[code];
  if (reason !== undefined) return new SecretCommandError(reason, true);
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return new SecretCommandError('printed far more than a secret', false);
  return new SecretCommandError(
    error.killed === true ? `did not end within ${String(limitMs / 1000)} s` : 'was ended by the system',
    false,
  );
}
