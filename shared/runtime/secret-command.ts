import { execFile, type ExecFileException } from 'node:child_process';
import { systemErrorCode } from './errors.ts';

/** The time limit of the command, in milliseconds. A person may have to unlock a password manager first. */
const TIME_LIMIT_MS = 30_000;
const MAX_OUTPUT = 64 * 1024;

/** The message never contains the command's output, which may be the secret. */
export class SecretCommandError extends Error {
  /** False if a later attempt may succeed, e.g. after the person has unlocked a password store. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.permanent = permanent;
  }
}

/**
 * Reads a secret from a command, e.g. a password manager. Runs the command without a shell. Returns its stdout.
 * @throws SecretCommandError
 */
export function secretFrom(
  [program = '', ...args]: readonly string[],
  limitMs = TIME_LIMIT_MS,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT } as const;
    const child = execFile(program, args, options, (error, stdout) => {
      if (error === null) resolve(stdout.trim());
      else reject(failureOf(error, limitMs));
    });
    // The MCP client uses stdin, so the command must not read it.
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
  const code = systemErrorCode(error) ?? '';
  const reason = CANNOT_RUN[code];
  if (reason !== undefined) return new SecretCommandError(reason, true);
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return new SecretCommandError('said far more than a secret', false);
  return new SecretCommandError(
    error.killed === true ? `did not end within ${String(limitMs / 1000)} s` : 'was ended by the system',
    false,
  );
}
