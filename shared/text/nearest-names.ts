const MAX_SUGGESTIONS = 3;
/** The maximum distance of a suggestion from the misspelt name, in edits per character of the longer name. */
const MAX_EDITS_PER_CHARACTER = 0.5;

/** Returns the known names that are most similar to a misspelt name: at most three, the most similar first. */
export function nearestNames(name: string, known: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  return known
    .map((each) => ({ each, distance: editDistance(wanted, each.toLowerCase()) }))
    .filter(
      ({ distance: edits, each }) => edits <= MAX_EDITS_PER_CHARACTER * Math.max(wanted.length, each.length),
    )
    .toSorted((a, b) => a.distance - b.distance || a.each.localeCompare(b.each))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ each }) => each);
}

/** Returns the Levenshtein distance: the number of inserted, deleted or replaced characters. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
