/** A path as a model or a person wrote it, taken apart without touching the disk. */
import { ProductError } from '../../../shared/errors.ts';

/** PATH_MAX of the common systems; nothing longer names a file. */
const MAX_PATH_LENGTH = 4096;

/** Device names of Windows: opening one opens a device, whatever the directory or the extension. */
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/iu;

export interface PathParts {
  /** Names from the workspace's root on; may hold `..`, never `.` or the empty name. */
  parts: string[];
  /** The path ended in a separator, `.` or `..`: it can only mean a directory. */
  directory: boolean;
  /** It was absolute, and began with the root. */
  absolute: boolean;
}

/**
 * The steps from `root` to `path`. An absolute path counts only where it begins with the root itself (X2).
 * @throws ProductError OUTSIDE_WORKSPACE, or MALFORMED for what no file system can name.
 */
export function pathParts(
  root: string,
  path: string,
  platform: NodeJS.Platform = process.platform,
): PathParts {
  if (path.length > MAX_PATH_LENGTH) {
    throw new ProductError('MALFORMED', `The path is longer than ${MAX_PATH_LENGTH} characters; shorten it.`);
  }
  if (path.includes('\0') || /\p{Surrogate}/u.test(path)) {
    throw new ProductError('MALFORMED', 'The path holds a character that no file name can hold; remove it.');
  }
  const windows = platform === 'win32';
  const absolute = windows ? /^(?:[\\/]|[a-z]:[\\/])/iu.test(path) : path.startsWith('/');
  const names = (absolute ? below(root, path, windows) : path).split(windows ? /[\\/]/u : '/');
  const parts = names.filter((name) => name !== '' && name !== '.');
  if (windows) parts.forEach(refuseWindowsName);
  return { parts, directory: ['', '.', '..'].includes(names.at(-1) ?? ''), absolute };
}

/** What is left of an absolute path below the root; one elsewhere is refused. */
function below(root: string, path: string, windows: boolean): string {
  const same = (text: string) => (windows ? text.replaceAll('/', '\\').toLowerCase() : text);
  const start = path.slice(0, root.length);
  const rest = path.slice(root.length);
  if (
    same(start) === same(root) &&
    (rest === '' || rest.startsWith('/') || (windows && rest.startsWith('\\')))
  ) {
    return rest;
  }
  throw outside(path);
}

function refuseWindowsName(name: string): void {
  if (name === '..') return;
  // `:` opens an alternate stream or another drive; a trailing dot or space is dropped and names another file.
  if (/[:<>"|?*]/u.test(name) || /[. ]$/u.test(name) || WINDOWS_DEVICE.test(name)) {
    throw new ProductError('MALFORMED', `"${name}" cannot name a file on Windows; choose another name.`);
  }
}

export function outside(path: string): ProductError {
  return new ProductError(
    'OUTSIDE_WORKSPACE',
    `"${path}" is outside the workspace. File tools reach only what is inside; use a path relative to the workspace.`,
  );
}
