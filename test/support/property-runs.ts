/**
 * The share of a property test's cases that a run generates. `npm test` generates a fifth of the cases, and `npm run
 * test:all` generates all of them. For a longer search, `RUNS=100 npm run jest -- <file>` generates a hundred times as
 * many, and other cases in each run.
 */
const FACTOR = Number(process.env['RUNS'] ?? (process.env['ALL_TESTS'] === undefined ? 0.2 : 1));

/** @param count the number of cases in `npm run test:all` */
export function numberOfRuns(count: number): number {
  return Math.ceil(count * FACTOR);
}

/**
 * The distance between the positions that a test checks, if it could check all: `npm test` checks every fifth position,
 * and `npm run test:all` checks each one.
 */
export const STRIDE = Math.max(1, Math.round(1 / FACTOR));
