/** Order statistics: on a machine that others use as well, a mean tells mostly of the others. */

/** @param values at least one; for an even number of them the upper middle one is taken. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that a share of `values` is at or below: the nearest rank, so always one that was measured. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)];
  if (value === undefined) throw new RangeError('a quantile of no values');
  return value;
}
