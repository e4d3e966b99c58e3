/** Decides which paths match a glob. */
import picomatch from 'picomatch';
import { withinTimeOrRetry, TimeExceeded } from '../../../shared/runtime/time-limit.ts';

/**
 * Time limit for one batch, in milliseconds. A glob becomes a regular expression, which may be slow; see time-limit.ts.
 */
const LIMIT_MS = 100;
/** The number of paths to match within one time limit. */
const BATCH = 500;

/** Returns the matching paths, relative to the start of the search. @throws Error with a sentence */
export type GlobMatcher = (paths: readonly string[]) => Promise<string[]>;

/**
 * As in ripgrep and .gitignore, a glob without a slash matches a name at any depth. A glob with a slash matches a path.
 * It supports braces, `**`, negation with a leading `!`, and names with a leading dot.
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
    return await withinTimeOrRetry(LIMIT_MS, work);
  } catch (cause) {
    if (!(cause instanceof TimeExceeded)) throw cause;
    throw new Error(`The glob "${glob}" takes too long to match; use a simpler one.`, { cause });
  }
}
