import type { Clock } from '../../shared/runtime/clock.ts';

/**
 * Returns a function that reads a value and caches it. That function reads again when the value is older than
 * `maxAgeMs`, or when `cooldownMs` has passed since a failure. `elapsed` may stop while the machine sleeps, and the
 * wall clock may go back. So the clock that shows the longer time counts.
 */
export function createCachedRead<Value>(
  read: () => Promise<Value>,
  {
    clock,
    cooldownMs,
    maxAgeMs = Infinity,
  }: { clock: Pick<Clock, 'now' | 'elapsed'>; cooldownMs: number; maxAgeMs?: number },
): () => Promise<Value> {
  let last: { value: Promise<Value>; since: ReturnType<typeof times>; usableMs: number } | undefined;
  const times = () => ({ now: clock.now(), elapsed: clock.elapsed() });
  const ageMs = (since: ReturnType<typeof times>): number =>
    Math.max(clock.now() - since.now, clock.elapsed() - since.elapsed);
  return () => {
    if (last !== undefined && ageMs(last.since) < last.usableMs) return last.value;
    const reading = { value: read(), since: times(), usableMs: maxAgeMs };
    reading.value.catch(() => Object.assign(reading, { since: times(), usableMs: cooldownMs }));
    last = reading;
    return reading.value;
  };
}
