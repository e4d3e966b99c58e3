/** Formats ages and durations as text. Pure. */
import { countWithNoun } from '../../../shared/text/one-line.ts';

const UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const;

/** Returns for example `5 minutes ago` or `just now`. @param ms the age in milliseconds. A negative age counts as 0. */
export function agoText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 2) return 'just now';
  for (const [length, noun] of UNITS)
    if (Math.round(seconds / length) >= 2) return `${countWithNoun(Math.round(seconds / length), noun)} ago`;
  return `${countWithNoun(seconds, 'second')} ago`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns e.g. `5 min`, a short text for the rows of a list. @param ms the duration in milliseconds */
export function roundedDurationText(ms: number): string {
  if (ms < MINUTE) return 'less than 1 min';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return countWithNoun(Math.floor(ms / DAY), 'day');
}
