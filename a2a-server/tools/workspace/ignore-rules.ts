/** What the .gitignore files of a workspace leave out, from its root down to one directory. */
import ignore, { type Ignore } from 'ignore';
import { ProductError } from '../../../shared/errors.ts';
import { patiently, TimeExceeded } from '../bounded-time.ts';
import type { Entry } from './entries.ts';

/** One hostile line must not hold up the process; see bounded-time.ts. */
const LIMIT_MS = 100;
/** Entries matched within one limit. */
const BATCH = 200;

interface Layer {
  /** The directory of the .gitignore, relative to the workspace; '' is the root. */
  base: string;
  rules: Ignore;
}

/** Layers from the root down; the deepest that says anything of a path decides, as in git. */
export type IgnoreRules = readonly Layer[];

/** The rules in force in `base`, given those above it and what its own .gitignore says. @throws ProductError as below */
export async function withRules(above: IgnoreRules, base: string, text: string): Promise<IgnoreRules> {
  // git matches case-sensitively unless told otherwise.
  const rules = await bounded(() => ignore({ ignorecase: false }).add(text));
  return [...above, { base, rules }];
}

/**
 * The entries of `directory` that are not left out. `.git` always is.
 * @throws ProductError MALFORMED when the patterns take too long to match.
 */
export async function notIgnored(
  rules: IgnoreRules,
  directory: string,
  entries: readonly Entry[],
): Promise<Entry[]> {
  if (rules.length === 0) return entries.filter(({ name }) => name !== '.git');
  const kept: Entry[] = [];
  for (let start = 0; start < entries.length; start += BATCH) {
    const batch = entries.slice(start, start + BATCH);
    kept.push(...(await bounded(() => batch.filter((entry) => !ignored(rules, directory, entry)))));
  }
  return kept;
}

async function bounded<T>(work: () => T): Promise<T> {
  try {
    return await patiently(LIMIT_MS, work);
  } catch (cause) {
    if (!(cause instanceof TimeExceeded)) throw cause;
    throw new ProductError(
      'MALFORMED',
      'A pattern in a .gitignore file takes too long to match; set includeIgnored, or name a directory it does not concern.',
      { cause },
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
