/** Lengths of time as people write them: `90s`, `30m`, `12h`, `7d`; `never` (or `0`) for one without end. */
import { z } from 'zod';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A hundred years: whatever is longer is `never`, and a date so far away can still be written. */
const LONGEST_MS = 36_500 * 86_400_000;

export const DURATION_ALLOWED = 'a number with s, m, h or d behind it, e.g. 12h, up to 36500d; or never';

/** @returns milliseconds; null for `never` and for 0. */
export const duration = z.union([z.string(), z.literal(0)]).transform((written, context) => {
  const ms = millisecondsOf(String(written));
  if (ms !== undefined && (ms === null || ms <= LONGEST_MS)) return ms;
  context.addIssue({ code: 'custom', message: `"${written}" is no length of time` });
  return z.NEVER;
});

function millisecondsOf(written: string): number | null | undefined {
  if (/^(?:never|0[smhd]?)$/.test(written)) return null;
  const [, count, unit] = /^([1-9]\d{0,9})([smhd])$/.exec(written) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
}
