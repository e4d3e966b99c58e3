/**
 * A log file of bounded size. At its limit the content is copied to `<file>.1`, and the file is emptied (as logrotate does
 * with `copytruncate`). The file stays the same file, so other writers that append to it need not reopen it: a program's
 * stderr, which also gets the last words of a crash.
 */
import { appendFileSync, copyFileSync, fstatSync, ftruncateSync, openSync, renameSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** With the older file, a log takes at most twice this. */
const MAX_BYTES = 10 * 1024 * 1024;

/** The path of the earlier content of a log file. */
export const olderLog = (path: string): string => `${path}.1`;

/**
 * Each line is written when `write` returns: the last lines of a crashing process must be there.
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
        // On a full disk the log loses lines. Its caller, such as an append, has not failed.
      }
    },
  };
}

/** A reader never sees half a copy. */
function setAside(path: string, file: number): void {
  const draft = `${olderLog(path)}.new`;
  copyFileSync(path, draft);
  renameSync(draft, olderLog(path));
  ftruncateSync(file, 0);
}
