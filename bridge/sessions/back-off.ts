/** Waiting between attempts: how often to try again, and how long to wait, in milliseconds; each wait twice the last. */
export interface BackOff {
  retries: number;
  minTimeout: number;
  maxTimeout: number;
  factor: number;
  /** Spread out, so that bridges that lost one agent do not come back all at once. */
  randomize: boolean;
}

/** 0.2 s, 0.4 s … at most 5 s: about 20 s in all. */
export const BACK_OFF: BackOff = {
  retries: 8,
  minTimeout: 200,
  maxTimeout: 5_000,
  factor: 2,
  randomize: true,
};
