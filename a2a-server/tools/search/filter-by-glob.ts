import picomatch from 'picomatch';
import { runWithinTimeWithRetry, TimeExceededError } from '../../runtime/sync-time-limit.ts';

/** The time limit for one batch. Picomatch turns a glob into a regular expression, which may be slow. */
const LIMIT_MS = 100;
const PATHS_PER_BATCH = 500;

/**
 * Returns the paths that match. Paths are relative to the directory where the search starts.
 * @throws Error if matching takes too long
 */
export type FilterByGlob = (paths: readonly string[]) => Promise<string[]>;

/**
 * Compiles a glob. As in ripgrep and .gitignore, a glob without a slash matches a name at any depth. A glob with a
 * slash matches a whole path. Globs may contain braces and `**`. A leading `!` negates the glob. The glob also matches
 * names with a leading dot.
 */
export async function createFilterByGlob(glob: string): Promise<FilterByGlob> {
  const pattern = glob.replace(/^(!?)(?:\.?\/)+/u, '$1');
  const matches = await runWithinGlobTime(glob, () =>
    picomatch(pattern, { dot: true, basename: !pattern.includes('/') }),
  );
  return async (paths) => {
    const found: string[] = [];
    for (let start = 0; start < paths.length; start += PATHS_PER_BATCH) {
      const batch = paths.slice(start, start + PATHS_PER_BATCH);
      found.push(...(await runWithinGlobTime(glob, () => batch.filter((path) => matches(path)))));
    }
    return found;
  };
}

async function runWithinGlobTime<T>(glob: string, work: () => T): Promise<T> {
  try {
    return await runWithinTimeWithRetry(LIMIT_MS, work);
  } catch (cause) {
    if (!(cause instanceof TimeExceededError)) throw cause;
    throw new Error(`The glob "${glob}" takes too long to match; use a simpler one.`, { cause });
  }
}
