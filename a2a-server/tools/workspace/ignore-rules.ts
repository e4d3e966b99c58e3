/** What the .gitignore files of a workspace leave out, from its root down to one directory. */
import ignore, { type Ignore } from 'ignore';
import { ProductError } from '../../../shared/errors.ts';
import { TimeExceeded, withinTime } from '../bounded-time.ts';
import type { Entry } from './entries.ts';

/** One hostile line must not hold up the process; see bounded-time.ts. */
const LIMIT_MS = 100;

interface Layer {
  /** The directory of the .gitignore, relative to the workspace; '' is the root. */
  base: string;
  rules: Ignore;
}

/** Layers from the root down; the deepest that says anything of a path decides, as in git. */
export type IgnoreRules = readonly Layer[];

/** The rules in force in `base`, given those above it and what its own .gitignore says. */
export function withRules(above: IgnoreRules, base: string, text: string): IgnoreRules {
  // git matches case-sensitively unless told otherwise.
  return [...above, { base, rules: ignore({ ignorecase: false }).add(text) }];
}

/**
 * The entries of `directory` that are not left out. `.git` always is.
 * @throws ProductError MALFORMED when the patterns take too long to match.
 */
export function notIgnored(rules: IgnoreRules, directory: string, entries: readonly Entry[]): Entry[] {
  try {
    return withinTime(LIMIT_MS, () => entries.filter((entry) => !ignored(rules, directory, entry)));
  } catch (error) {
    if (!(error instanceof TimeExceeded)) throw error;
    throw new ProductError(
      'MALFORMED',
      'A pattern in a .gitignore file takes too long to match; set includeIgnored, or name a directory it does not concern.',
      { cause: error },
    );
  }
}

function ignored(rules: IgnoreRules, directory: string, entry: Entry): boolean {
  if (entry.name === '.git') return true;
  const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
  for (const { base, rules: layer } of rules.toReversed()) {
    const below = base === '' ? path : path.slice(base.length + 1);
    const answer = layer.test(entry.kind === 'directory' ? `${below}/` : below);
    if (answer.ignored || answer.unignored) return answer.ignored;
  }
  return false;
}
