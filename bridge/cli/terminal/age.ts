/** Formats a duration in its largest unit, such as `3h`. Pure. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** Returns the time since `at`. Returns `''` if `at` is not a valid time, and `0s` if it is in the future. */
export function ageText(at: string, now: number): string {
  const then = Date.parse(at);
  if (Number.isNaN(then)) return '';
  return durationText(now - then);
}

export function durationText(ms: number): string {
  for (const [unit, size] of UNITS) if (ms >= size) return `${String(Math.floor(ms / size))}${unit}`;
  return '0s';
}
