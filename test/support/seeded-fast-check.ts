/**
 * Replaces `fast-check` in the tests (jest.config.ts). Each property test gets the same cases in each run, so a commit
 * always passes or always fails. A longer search (`RUNS=100`, property-runs.ts) gets new cases.
 */
import fc from '../../node_modules/fast-check/lib/fast-check.js';

const SEED = 1;

if (process.env['RUNS'] === undefined) fc.configureGlobal({ seed: SEED });

export default fc;
