import { ProductError } from '../../../shared/runtime/errors.ts';

/** The maximum length of a path, in characters: PATH_MAX of common systems. A longer path cannot name a file. */
const MAX_PATH_CHARS = 4096;

/** Matches the names for which Windows opens a device, in any directory and with any extension. */
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/iu;
/** Matches the short names that Windows gives to files with longer ones, e.g. `GIT~1` for `.git`. */
const WINDOWS_SHORT_NAME = /^[^.~]{1,6}~\d{1,6}(?:\.[^.]{0,3})?$/u;

export interface PathParts {
  /** The names below the workspace root. They may contain `..`, but never `.` or an empty name. */
  parts: string[];
  /** True if the path ends in a separator, `.` or `..`. Such a path must name a directory. */
  directory: boolean;
  /** True if the path was absolute and began with the root. */
  absolute: boolean;
}

/**
 * Splits a path from a model or a person into the names below `root`, without disk access. X2: an absolute path must
 * begin with the root itself.
 * @throws ProductError OUTSIDE_WORKSPACE if an absolute path does not begin with the root
 * @throws ProductError MALFORMED if no file can have the path
 */
export function splitPath(
  root: string,
  path: string,
  platform: NodeJS.Platform = process.platform,
): PathParts {
  if (path.length > MAX_PATH_CHARS) {
    throw new ProductError('MALFORMED', `The path is longer than ${MAX_PATH_CHARS} characters; shorten it.`);
  }
  if (path.includes('\0') || /\p{Surrogate}/u.test(path)) {
    throw new ProductError(
      'MALFORMED',
      'The path contains a character that file names cannot contain; remove it.',
    );
  }
  const windows = platform === 'win32';
  const absolute = windows ? /^(?:[\\/]|[a-z]:[\\/])/iu.test(path) : path.startsWith('/');
  const names = (absolute ? pathBelowRoot(root, path, windows) : path).split(windows ? /[\\/]/u : '/');
  const parts = names.filter((name) => name !== '' && name !== '.');
  if (windows) parts.forEach(refuseWindowsName);
  return { parts, directory: ['', '.', '..'].includes(names.at(-1) ?? ''), absolute };
}

function pathBelowRoot(root: string, path: string, windows: boolean): string {
  const same = (text: string) => (windows ? text.replaceAll('/', '\\').toLowerCase() : text);
  const start = path.slice(0, root.length);
  const rest = path.slice(root.length);
  if (
    same(start) === same(root) &&
    (rest === '' || rest.startsWith('/') || (windows && rest.startsWith('\\')))
  ) {
    return rest;
  }
  throw outsideWorkspaceError(path);
}

function refuseWindowsName(name: string): void {
  if (name === '..') return;
  // `:` opens an alternate stream or another drive. Windows drops a trailing dot or space, so such a name would mean
  // another file. A short name (e.g. `PROGRA~1`) is a second name of a file with a longer name, and no rule of the
  // policy would recognize it.
  const otherName = WINDOWS_DEVICE.test(name) || WINDOWS_SHORT_NAME.test(name);
  if (otherName || /[:<>"|?*]/u.test(name) || /[. ]$/u.test(name)) {
    throw new ProductError('MALFORMED', `"${name}" cannot name a file on Windows; choose another name.`);
  }
}

export function outsideWorkspaceError(path: string): ProductError {
  return new ProductError(
    'OUTSIDE_WORKSPACE',
    `"${path}" is outside the workspace. File tools reach only files inside the workspace; use a path relative to the workspace.`,
  );
}
