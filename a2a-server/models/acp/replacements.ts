/** Finds the texts that an agent's tool replaces in a file, in the raw input of the tool. */

/** Maps each old text to `first` or `all` occurrences. */
export type Replacements = ReadonlyMap<string, 'first' | 'all'>;

/** `old_string` (Claude, gemini-cli), `oldString` (OpenCode), `old_str` (text editor tools). */
const OLD = /^old_?(?:string|str)$/i;
const ALL = /^(?:replace_?all|allow_?multiple)$/i;

/** Edits are in the input itself or in a nested list. */
const MAX_DEPTH = 4;

export function replacementsIn(rawInput: unknown): Replacements {
  const found = new Map<string, 'first' | 'all'>();
  collect(rawInput, found, MAX_DEPTH);
  return found;
}

function collect(value: unknown, found: Map<string, 'first' | 'all'>, depth: number): void {
  if (typeof value !== 'object' || value === null || depth === 0) return;
  const entries = Object.entries(value);
  const all = entries.some(([key, each]) => ALL.test(key) && each === true);
  for (const [key, each] of entries) {
    if (typeof each === 'string' && OLD.test(key)) found.set(each, all ? 'all' : 'first');
    else collect(each, found, depth - 1);
  }
}
