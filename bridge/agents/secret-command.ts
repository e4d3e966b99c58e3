/** Reads a secret from a command, e.g. a password manager. */
import { execFile, type ExecFileException } from 'node:child_process';
import { systemErrorCode } from '../../shared/runtime/errors.ts';

/** A person may have to unlock something first. In milliseconds. */
const PATIENCE_MS = 30_000;
const MAX_OUTPUT = 64 * 1024;

/**
 * @returns the command's stdout
 * @throws Error with the reason, never with the output, which may be the secret
 */
export function secretFrom(
  [program = '', ...args]: readonly string[],
  patienceMs = PATIENCE_MS,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: patienceMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT } as const;
    const child = execFile(program, args, options, (error, stdout) => {
      if (error === null) resolve(stdout.trim());
      else reject(new Error(troubleWith(error, patienceMs)));
    });
    // The MCP client uses stdin, so the command must not read it.
    child.stdin?.end();
  });
}

const TROUBLES: Readonly<Record<string, string>> = {
  ENOENT: 'was not found',
  EACCES: 'may not be run by this user',
  ERR_CHILD_PROCESS_STDIO_MAXBUFFER: 'said far more than a secret',
};

function troubleWith(error: ExecFileException, patienceMs: number): string {
  if (typeof error.code === 'number') return `ended with exit code ${String(error.code)}`;
  const known = TROUBLES[systemErrorCode(error) ?? ''];
  if (known !== undefined) return known;
  return error.killed === true
    ? `did not end within ${String(patienceMs / 1000)} s`
    : 'was ended by the system';
}
