import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';

const SENTENCES: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: nothingAt,
  EISDIR: (path) => `"${path}" is a directory, not a file; name a file in it.`,
  ENOTDIR: (path) =>
    `A part of "${path}" is a file where a directory is needed; list-files shows what is there.`,
  EACCES: (path) => `The server may not access "${path}"; its permissions forbid it.`,
  EPERM: (path) => `The server may not change "${path}"; the file system forbids it.`,
  EROFS: (path) => `"${path}" is on a read-only file system; nothing was written.`,
  ENOSPC: (path) => `The disk is full; "${path}" was left as it was.`,
  EDQUOT: (path) => `The disk quota is used up; "${path}" was left as it was.`,
  ENAMETOOLONG: (path) => `A name in "${path.slice(0, 80)}…" is too long for the file system; shorten it.`,
  ELOOP: (path) => `"${path}" leads through an endless chain of symbolic links.`,
  EXDEV: (path) =>
    `"${path}" is on a different file system than the original; copy it with a shell command, then delete it.`,
  EMFILE: (path) => `The server has too many files open to reach "${path}"; try again in a moment.`,
  ENFILE: (path) => `The system has too many files open to reach "${path}"; try again in a moment.`,
  EBUSY: (path) => `"${path}" is in use by the system (perhaps a mount); it cannot be replaced.`,
};

/** Turns a system error about `path` into a sentence that a model can act on. Returns any other error unchanged. */
export function toFileError(error: unknown, path: string): unknown {
  const code = errorCode(error);
  if (code === undefined || error instanceof ProductError) return error;
  const sentence = SENTENCES[code];
  return sentence === undefined ? error : new Error(sentence(path), { cause: error });
}

export function nothingAtError(path: string): Error {
  return new Error(nothingAt(path));
}

function nothingAt(path: string): string {
  return `There is no "${path}" in the workspace; list-files shows what is there.`;
}

export function pathIsDirectoryError(path: string): Error {
  return new Error(SENTENCES['EISDIR']?.(path));
}
