/** Applies the .gitignore files from the workspace root down to one directory. */
import ignore, { type Ignore } from 'ignore';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { runWithinTimeWithRetry, TimeExceededError } from '../../runtime/sync-time-limit.ts';
import type { DirectoryEntry } from './directory-entries.ts';

/** The time limit for matching, because patterns are untrusted; see `sync-time-limit.ts`. */
const LIMIT_MS = 100;
const ENTRIES_PER_BATCH = 200;

interface RulesOfDirectory {
  /** The directory of the .gitignore, relative to the workspace. The root is ''. */
  base: string;
  rules: Ignore;
}

/**
 * The rules of all .gitignore files, from the root to the deepest directory. As in git, the deepest matching rule
 * decides.
 */
export type IgnoreRules = readonly RulesOfDirectory[];

/**
 * Adds the rules of one .gitignore to the rules of the directories above.
 * @throws ProductError MALFORMED if parsing takes too long
 */
export async function parseGitignoreRules(
  above: IgnoreRules,
  base: string,
  text: string,
): Promise<IgnoreRules> {
  // git matches names case-sensitively by default, so these rules do too.
  const rules = await runWithinPatternTime(() => ignore({ ignorecase: false }).add(text));
  return [...above, { base, rules }];
}

/**
 * Returns the entries of `directory` that no rule ignores. `.git` is always ignored.
 * @throws ProductError MALFORMED if matching takes too long
 */
export async function withoutIgnoredEntries(
  rules: IgnoreRules,
  directory: string,
  entries: readonly DirectoryEntry[],
): Promise<DirectoryEntry[]> {
  if (rules.length === 0) return entries.filter(({ name }) => name !== '.git');
  const kept: DirectoryEntry[] = [];
  for (let start = 0; start < entries.length; start += ENTRIES_PER_BATCH) {
    const batch = entries.slice(start, start + ENTRIES_PER_BATCH);
    kept.push(
      ...(await runWithinPatternTime(() => batch.filter((entry) => !isIgnored(rules, directory, entry)))),
    );
  }
  return kept;
}

async function runWithinPatternTime<T>(work: () => T): Promise<T> {
  try {
    return await runWithinTimeWithRetry(LIMIT_MS, work);
  } catch (cause) {
    if (!(cause instanceof TimeExceededError)) throw cause;
    throw new ProductError(
      'MALFORMED',
      'A pattern in a .gitignore file takes too long to match; set includeIgnored, or name a directory outside its scope.',
      { cause },
    );
  }
}

function isIgnored(rules: IgnoreRules, directory: string, entry: DirectoryEntry): boolean {
  if (entry.name === '.git') return true;
  const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
  for (const { base, rules: layer } of rules.toReversed()) {
    const below = base === '' ? path : path.slice(base.length + 1);
    const answer = layer.test(entry.kind === 'directory' ? `${below}/` : below);
    if (answer.ignored || answer.unignored) return answer.ignored;
  }
  return false;
}
