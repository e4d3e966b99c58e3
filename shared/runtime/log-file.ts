/**
 * A log file of limited size. When the file is full, its content is copied to `<file>.1`, and the file is emptied, as
 * with logrotate's `copytruncate`. The file itself stays, so that other writers need not open it again. A program's
 * stderr is such a writer; it receives the last lines of a crash.
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

/** The maximum size of the log file. `<file>.1` has the same maximum. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Returns the path of the file with the older log lines. */
export const rotatedLogPath = (path: string): string => `${path}.1`;

/**
 * Opens a log file. Each line is in the file when `write` returns, so the last lines of a crashing process are not
 * lost.
 * @throws the error of the file system if the file cannot be opened
 */
export function openLogFile(path: string, maxBytes = MAX_BYTES): DestinationStream {
  const file = openSync(path, 'a', 0o600);
  return {
    write(line) {
      try {
        if (fstatSync(file).size + Buffer.byteLength(line) > maxBytes) setAside(path, file);
        appendFileSync(file, line);
      } catch {
        // The error is ignored, because code that logs must not fail. On a full disk, the log loses lines.
      }
    },
  };
}

/**
 * Copies the log file to `<file>.1` and empties the log file. A reader never sees an incomplete copy. If the copy
 * fails, for example on a full disk, the older lines are lost. The new lines are more important, and the size limit
 * still applies.
 */
function setAside(path: string, file: number): void {
  const draft = `${rotatedLogPath(path)}.new`;
  try {
    copyFileSync(path, draft);
    renameSync(draft, rotatedLogPath(path));
  } catch {
    // Deletes the incomplete copy, because it takes space that the new lines need.
    rmSync(draft, { force: true });
  } finally {
    ftruncateSync(file, 0);
  }
}
