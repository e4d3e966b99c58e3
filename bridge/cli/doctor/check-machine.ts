/** Checks Node, the state directory and the token files. Changes nothing. */
import { access, constants, readFile, stat, statfs } from 'node:fs/promises';
import { errorCode, errorMessageOf } from '../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../shared/runtime/file-problem.ts';
import { requireWritableOrCreatable } from '../../../shared/state/state-directory.ts';
import { TOKEN_PATTERN, tokenPath, type TokenFileName } from '../../../shared/state/token-file.ts';
import {
  failCheckResult,
  type CheckResult,
  okCheckResult,
  warnCheckResult,
  STATE_DIRECTORY_SUBJECT,
} from '../../../shared/runtime/check-result.ts';

/** The minimum version of Node, as in package.json. */
const MIN_NODE = [20, 19] as const;
const MIN_FREE_BYTES = 100 * 1024 * 1024;

export function checkNode(version: string): CheckResult {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const least = MIN_NODE.join('.');
  const old = major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1]);
  return old
    ? failCheckResult(
        'node',
        `${version} is older than ${least}`,
        `Install Node ${least} or newer, and start the clients again.`,
      )
    : okCheckResult('node', version);
}

/** Checks the state directory, its permissions, and the free disk space. */
export async function checkStateDirectory(path: string): Promise<readonly CheckResult[]> {
  const subject = STATE_DIRECTORY_SUBJECT;
  try {
    const { mode, uid } = await stat(path);
    const findings: CheckResult[] = [];
    if (process.getuid !== undefined && uid !== process.getuid())
      findings.push(
        failCheckResult(
          subject,
          `${path} belongs to another user`,
          'Choose another one with --state-dir, in the clients too.',
        ),
      );
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      findings.push(
        failCheckResult(
          subject,
          `${path} is open to other users (mode ${octalMode(mode)})`,
          `Run: chmod 700 ${path}`,
        ),
      );
    await access(path, constants.R_OK | constants.W_OK);
    const { bavail, bsize } = await statfs(path);
    if (bavail * bsize < MIN_FREE_BYTES)
      findings.push(
        warnCheckResult(
          subject,
          `less than 100 MB are left on the disk of ${path}`,
          'Free some space: on a full disk, the server cannot store events, and its tasks wait.',
        ),
      );
    return findings.length > 0 ? findings : [okCheckResult(subject, path)];
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [await checkMissingDirectory(path)];
    return [
      failCheckResult(
        subject,
        `${path} cannot be used: ${fileProblem(error)}`,
        'Make it readable and writable for this user, or choose another with --state-dir.',
      ),
    ];
  }
}

async function checkMissingDirectory(path: string): Promise<CheckResult> {
  try {
    await requireWritableOrCreatable(path);
    return okCheckResult(STATE_DIRECTORY_SUBJECT, `${path} is created when it is needed`);
  } catch (error) {
    return failCheckResult(
      STATE_DIRECTORY_SUBJECT,
      errorMessageOf(error),
      'Correct the path, or the permissions.',
    );
  }
}

/** Checks a token file. Anyone who can read the token can act as its user, so no other user may read it. */
export async function checkTokenFile(
  stateDirectory: string,
  file: TokenFileName,
): Promise<CheckResult | undefined> {
  const path = tokenPath(stateDirectory, file);
  try {
    const [text, { mode }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      return failCheckResult(
        file,
        `${path} can be read by other users (mode ${octalMode(mode)})`,
        `Run: chmod 600 ${path}. If others may have read it, delete it: the bridge creates a new one. Then restart the local server.`,
      );
    if (!TOKEN_PATTERN.test(text.trim()))
      return failCheckResult(file, `${path} holds no token`, 'Delete it: the bridge creates a new one.');
    return okCheckResult(file, `${path}, mode ${octalMode(mode)}`);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined; // The file is created when it is first needed.
    return failCheckResult(
      file,
      `${path} cannot be read: ${fileProblem(error)}`,
      `Make it this user's own: chmod 600 ${path}`,
    );
  }
}

function octalMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
