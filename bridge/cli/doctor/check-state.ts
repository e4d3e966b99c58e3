/** Checks the state directory, and what the programs keep there: tokens, the bridge's database, the last seen time. */
import { access, constants, readFile, stat, statfs } from 'node:fs/promises';
import {
  checkResults,
  type CheckResult,
  STATE_DIRECTORY_SUBJECT,
} from '../../../shared/runtime/check-result.ts';
import { errorCode, errorMessageOf } from '../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../shared/runtime/file-problem.ts';
import {
  clockJumpMs,
  clockJumpText,
  CONFIRM_CLOCK_COMMAND,
  readClockMark,
  readClocks,
} from '../../../shared/state/clock-mark.ts';
import { requireWritableOrCreatable } from '../../../shared/state/state-directory.ts';
import { TOKEN_PATTERN, tokenPath, type TokenFileName } from '../../../shared/state/token-file.ts';
import { countWithNoun } from '../../../shared/text/one-line.ts';
import { BridgeDatabase } from '../../state/database.ts';
import { databasePath } from '../../state/database-path.ts';
import { Outbox } from '../../state/outbox.ts';

const MIN_FREE_BYTES = 100 * 1024 * 1024;

/** Checks the state directory, its permissions, and the free disk space. Changes nothing. */
export async function checkStateDirectory(path: string): Promise<readonly CheckResult[]> {
  const results = checkResults(STATE_DIRECTORY_SUBJECT);
  try {
    const { mode, uid } = await stat(path);
    const findings: CheckResult[] = [];
    if (process.getuid !== undefined && uid !== process.getuid())
      findings.push(
        results.fail(
          `${path} belongs to another user`,
          'Choose another one with --state-dir, in the clients too.',
        ),
      );
    if (isOpenToOthers(mode))
      findings.push(
        results.fail(`${path} is open to other users (mode ${octalMode(mode)})`, `Run: chmod 700 ${path}`),
      );
    await access(path, constants.R_OK | constants.W_OK);
    const { bavail, bsize } = await statfs(path);
    if (bavail * bsize < MIN_FREE_BYTES)
      findings.push(
        results.warn(
          `less than 100 MB are left on the disk of ${path}`,
          'Free some space: on a full disk, the server cannot store events, and its tasks wait.',
        ),
      );
    return findings.length > 0 ? findings : [results.ok(path)];
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [await checkMissingDirectory(path)];
    return [
      results.fail(
        `${path} cannot be used: ${fileProblem(error)}`,
        'Make it readable and writable for this user, or choose another with --state-dir.',
      ),
    ];
  }
}

async function checkMissingDirectory(path: string): Promise<CheckResult> {
  const results = checkResults(STATE_DIRECTORY_SUBJECT);
  try {
    await requireWritableOrCreatable(path);
    return results.ok(`${path} is created when it is needed`);
  } catch (error) {
    return results.fail(errorMessageOf(error), 'Correct the path, or the permissions.');
  }
}

/** Checks a token file. Anyone who can read the token can act as its user, so no other user may read it. */
export async function checkTokenFile(
  stateDirectory: string,
  file: TokenFileName,
): Promise<CheckResult | undefined> {
  const results = checkResults(file);
  const path = tokenPath(stateDirectory, file);
  try {
    const [text, { mode }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    if (isOpenToOthers(mode))
      return results.fail(
        `${path} can be read by other users (mode ${octalMode(mode)})`,
        `Run: chmod 600 ${path}. If others may have read it, delete it: the bridge creates a new one. Then restart the local server.`,
      );
    if (!TOKEN_PATTERN.test(text.trim()))
      return results.fail(`${path} holds no token`, 'Delete it: the bridge creates a new one.');
    return results.ok(`${path}, mode ${octalMode(mode)}`);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined; // The file is created when it is first needed.
    return results.fail(
      `${path} cannot be read: ${fileProblem(error)}`,
      `Make it this user's own: chmod 600 ${path}`,
    );
  }
}

/**
 * Checks the permissions of the bridge's database, and opens it. Returns undefined if there is no database yet. The
 * first tool call creates it.
 */
export async function checkDatabase(stateDirectory: string): Promise<CheckResult | undefined> {
  const results = checkResults('bridge database');
  const path = databasePath(stateDirectory);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (isOpenToOthers(found.mode))
    return results.fail(`${path} can be read by other users`, `Run: chmod 600 ${path}`);
  try {
    const database = await BridgeDatabase.open(stateDirectory);
    try {
      const open = new Outbox(database).open().length;
      return results.ok(`${path}, ${countWithNoun(open, 'delegation')} whose result no client has collected`);
    } finally {
      database.close();
    }
  } catch (error) {
    return results.fail(
      errorMessageOf(error),
      'Do what the message says. The tasks on the servers are safe.',
    );
  }
}

/** Compares the clock with the time that a local server has stored. Returns undefined if the clock is plausible. */
export async function checkClockMark(stateDirectory: string): Promise<CheckResult | undefined> {
  const mark = await readClockMark(stateDirectory).catch(() => undefined);
  const jump = mark === undefined ? 0 : clockJumpMs(mark, await readClocks(Date.now()));
  if (jump === 0) return undefined;
  return checkResults('clock').warn(
    `it ${clockJumpText(jump)} since the local server last ran; the server ends no task and deletes no session`,
    `If the clock is wrong, set it. If it is correct, run: ${CONFIRM_CLOCK_COMMAND} --state-dir ${stateDirectory}`,
  );
}

/** Returns true if other users may use the file. Windows has no such permissions. */
function isOpenToOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0;
}

function octalMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
