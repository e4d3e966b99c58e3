/** Formats an age in its largest unit. Pure. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** Returns `''` for an invalid time, and `0s` for a future time. */
export function ageText(at: string, now: number): string {
  const then = Date.parse(at);
  if (Number.isNaN(then)) return '';
  return durationText(now - then);
}

export function durationText(ms: number): string {
  for (const [unit, size] of UNITS) if (ms >= size) return `${String(Math.floor(ms / size))}${unit}`;
  return '0s';
}
