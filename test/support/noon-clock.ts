/**
 * The environment of a Node program whose clock shows noon UTC at the start of the test file. The time passes at its
 * usual speed. So a day does not end during a test.
 */
const DAY_MS = 24 * 60 * 60 * 1000;
// The day is tomorrow. A browser has the real clock, and a cookie from yesterday might have expired there.
const NOON = (Math.floor(Date.now() / DAY_MS) + 1.5) * DAY_MS;

// The shift is the same for each program of the test file. Otherwise the clock of a restarted server would go back.
const shift = NOON - Date.now();

const program = `
const Real = Date;
globalThis.Date = class extends Real {
  constructor(...args) {
    if (args.length === 0) super(Real.now() + ${shift});
    else super(...args);
  }
  static now() {
    return Real.now() + ${shift};
  }
};`;

export const NOON_CLOCK = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
/** The UTC day of the clock. */
export const NOON_DAY = new Date(NOON).toISOString().slice(0, 10);
