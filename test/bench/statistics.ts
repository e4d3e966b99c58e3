/** Order statistics: on a shared machine, a mean says more about the other work than about the program. */

/** A quantile of samples, with the range in which it lies with 95 % confidence. */
interface Estimate {
  value: number;
  /** From, to. */
  spread: readonly [number, number];
}

/** @param values at least one. An even number of values has its upper middle value as the median. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The nearest rank: always a value that was measured, with a share of `values` at or below it. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return valueAt(sorted, Math.floor(share * sorted.length));
}

export function medianOf(values: readonly number[]): Estimate {
  return quantileOf(values, 0.5);
}

/** The spread assumes no distribution: the number of values below a quantile is binomial. */
export function quantileOf(values: readonly number[], share: number): Estimate {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = share * sorted.length;
  const margin = 1.96 * Math.sqrt(rank * (1 - share));
  return {
    value: valueAt(sorted, Math.floor(rank)),
    spread: [valueAt(sorted, Math.floor(rank - margin)), valueAt(sorted, Math.ceil(rank + margin))],
  };
}

function valueAt(sorted: readonly number[], rank: number): number {
  const value = sorted[Math.min(Math.max(rank, 0), sorted.length - 1)];
  if (value === undefined) throw new RangeError('a quantile of no values');
  return value;
}
