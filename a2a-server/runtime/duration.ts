/** Durations as people write them: `90s`, `30m`, `12h`, `7d`, or `never` for no end. */
import type { SettingDefinition } from '../../shared/settings/resolve-settings.ts';
import { z } from 'zod';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The maximum duration: a hundred years. A date that far in the future can still be formatted. */
const MAX_DURATION_MS = 36_500 * 86_400_000;

export const DURATION_ALLOWED = 'a number with s, m, h or d, e.g. 12h, up to 36500d; or never';

/**
 * Parses a duration to milliseconds, or to null for `never`. Refuses zero: some people mean "at once" by it, and others
 * mean "never".
 */
export const durationSchema = z.string().transform((written, context) => {
  const ms = millisecondsOf(written);
  if (ms !== undefined && (ms === null || ms <= MAX_DURATION_MS)) return ms;
  context.addIssue({ code: 'custom', message: `"${written}" is not a duration` });
  return z.NEVER;
});

function millisecondsOf(written: string): number | null | undefined {
  if (written === 'never') return null;
  const [, count, unit] = /^([1-9]\d{0,9})([smhd])$/.exec(written) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
}

/** Defines a setting whose value is such a duration. */
export function defineDuration(fallback: string, describe: string): SettingDefinition<typeof durationSchema> {
  return {
    placeholder: 'time',
    schema: durationSchema,
    fallback,
    describe,
    allowed: DURATION_ALLOWED,
  };
}
