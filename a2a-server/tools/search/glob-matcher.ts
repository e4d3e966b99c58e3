/** Which names of a directory a glob means. */
import picomatch from 'picomatch';
import { patiently, TimeExceeded } from '../bounded-time.ts';

/** See bounded-time.ts: a glob becomes a regular expression, and may be as hostile as one. */
const LIMIT_MS = 100;
/** Paths matched within one limit. */
const BATCH = 500;

/** The paths that match; each relative to where the search began. @throws Error with a sentence */
export type GlobMatcher = (paths: readonly string[]) => Promise<string[]>;

/**
 * As ripgrep and .gitignore have it: a glob without a slash means a name at any depth, one with a slash a path.
 * Braces, `**`, negation with a leading `!`, and names with a leading dot are all matched.
 */
export async function globMatcher(glob: string): Promise<GlobMatcher> {
  const pattern = glob.replace(/^(!?)(?:\.?\/)+/u, '$1');
  const matches = await bounded(glob, () =>
    picomatch(pattern, { dot: true, basename: !pattern.includes('/') }),
  );
  return async (paths) => {
    const found: string[] = [];
    for (let start = 0; start < paths.length; start += BATCH) {
      const batch = paths.slice(start, start + BATCH);
      found.push(...(await bounded(glob, () => batch.filter((path) => matches(path)))));
    }
    return found;
  };
}

async function bounded<T>(glob: string, work: () => T): Promise<T> {
  try {
    return await patiently(LIMIT_MS, work);
  } catch (cause) {
    if (!(cause instanceof TimeExceeded)) throw cause;
    throw new Error(`The glob "${glob}" takes too long to match; use a simpler one.`, { cause });
  }
}
