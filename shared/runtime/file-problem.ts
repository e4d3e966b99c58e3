/** Explains why a file cannot be read or written, in words that a user understands. */
import { errorMessageOf, errorCode } from './errors.ts';

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is a file, not a directory',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};

/**
 * Returns the reason as the end of a sentence, e.g. `it does not exist`. The caller's sentence names the file, so the
 * system's own message (`ENOENT: no such file or directory, open '…'`) would name it twice. Returns the message of an
 * error without a known code unchanged.
 */
export function fileProblem(error: unknown): string {
  return PROBLEMS[errorCode(error) ?? ''] ?? errorMessageOf(error);
}

/** Like `fileProblem`, for a file that a program creates. There, ENOENT means that the directory does not exist. */
export function newFileProblem(error: unknown): string {
  return errorCode(error) === 'ENOENT' ? 'its directory does not exist' : fileProblem(error);
}
