/** Order statistics. On a shared machine, a mean depends too much on other programs. */

/** A quantile of samples with its 95 % confidence interval. */
interface Estimate {
  value: number;
  /** The lower and the upper bound. */
  spread: readonly [number, number];
}

/** @param values at least one value. @returns the median; of two middle values, the larger one */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** @returns the quantile by nearest rank: the smallest value with at least this share of `values` at or below it */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return valueAt(sorted, Math.floor(share * sorted.length));
}

export function medianOf(values: readonly number[]): Estimate {
  return quantileOf(values, 0.5);
}

/**
 * @returns the quantile with its interval. The interval is valid for every distribution, because ranks are binomial.
 */
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
