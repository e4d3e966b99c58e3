/** Refuses a limit below 1. SQLite treats a negative limit as no limit. */
export function requirePositive(limit: number): number {
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new RangeError(`a limit is a positive integer, not ${limit}`);
}
