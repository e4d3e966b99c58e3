/**
 * A log file of limited size. At the limit its content is copied to `<file>.1`, and the file becomes empty, as with
 * logrotate's `copytruncate`. The file itself stays. So other writers need not open it again. Such a writer is a
 * program's stderr, which also gets the last lines of a crash.
 */
import {
  appendFileSync,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import type { DestinationStream } from 'pino';

/** The log and its older file together have at most twice this size. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Returns the path of the older content of a log file. */
export const rotatedLogPath = (path: string): string => `${path}.1`;

/**
 * Opens a log file. When `write` returns, the line is in the file. So the last lines of a crashing process are not
 * lost.
 * @throws the error of the file system if the file cannot be opened
 */
export function logFile(path: string, maxBytes = MAX_BYTES): DestinationStream {
  const file = openSync(path, 'a', 0o600);
  return {
    write(line) {
      try {
        if (fstatSync(file).size + Buffer.byteLength(line) > maxBytes) setAside(path, file);
        appendFileSync(file, line);
      } catch {
        // On a full disk, the log loses lines. The error is ignored, because the code that logs must not fail.
      }
    },
  };
}

/**
 * A reader never sees an incomplete copy. If the copy fails, for example on a full disk, the older lines are lost. The
 * new lines are more important, and the size limit still applies.
 */
function setAside(path: string, file: number): void {
  const draft = `${rotatedLogPath(path)}.new`;
  try {
    copyFileSync(path, draft);
    renameSync(draft, rotatedLogPath(path));
  } catch {
    // An incomplete copy takes space that the new lines need.
    rmSync(draft, { force: true });
  } finally {
    ftruncateSync(file, 0);
  }
}
