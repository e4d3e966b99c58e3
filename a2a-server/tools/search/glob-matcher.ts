/** Which names of a directory a glob means. */
import picomatch from 'picomatch';
import { TimeExceeded, withinTime } from '../bounded-time.ts';

/** See bounded-time.ts: a glob becomes a regular expression, and may be as hostile as one. */
const LIMIT_MS = 100;

/** The paths that match; each relative to where the search began. @throws Error with a sentence */
export type GlobMatcher = (paths: readonly string[]) => string[];

/**
 * As ripgrep and .gitignore have it: a glob without a slash means a name at any depth, one with a slash a path.
 * Braces, `**`, negation with a leading `!`, and names with a leading dot are all matched.
 */
export function globMatcher(glob: string): GlobMatcher {
  const pattern = glob.replace(/^(!?)(?:\.?\/)+/u, '$1');
  const matches = bounded(glob, () => picomatch(pattern, { dot: true, basename: !pattern.includes('/') }));
  return (paths) => bounded(glob, () => paths.filter((path) => matches(path)));
}

function bounded<T>(glob: string, work: () => T): T {
  try {
    return withinTime(LIMIT_MS, work);
  } catch (cause) {
    if (!(cause instanceof TimeExceeded)) throw cause;
    throw new Error(`The glob "${glob}" takes too long to match; use a simpler one.`, { cause });
  }
}
