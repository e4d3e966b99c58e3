/**
 * How often to try again, and how long to wait between attempts, in milliseconds. Each wait is `factor` times the
 * last.
 */
export interface BackOff {
  retries: number;
  minTimeout: number;
  maxTimeout: number;
  factor: number;
  /** Spreads the retries: bridges that lost one agent do not return all at once. */
  randomize: boolean;
}

/** 0.2 s, 0.4 s … at most 5 s: about 20 s in total. */
export const BACK_OFF: BackOff = {
  retries: 8,
  minTimeout: 200,
  maxTimeout: 5_000,
  factor: 2,
  randomize: true,
};
