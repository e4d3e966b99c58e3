/** Chooses some elements by a seed. Pure. */

/** @returns `count` of the elements, chosen at random, in their order; all elements if there are fewer */
export function sample<T>(all: readonly T[], count: number, seed: number): T[] {
  const next = sequence(seed);
  return all
    .map((value, index) => ({ value, index, lot: next() }))
    .toSorted((a, b) => a.lot - b.lot)
    .slice(0, count)
    .toSorted((a, b) => a.index - b.index)
    .map(({ value }) => value);
}

/** Returns the next number of a seeded sequence, between 0 and 1 (mulberry32). */
function sequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
