/** Reads the server's state for the gauges. The journal counts its tasks at most once in some seconds. */
import type { Clock } from '../../shared/runtime/clock.ts';
import { resultWithin } from '../runtime/timeout.ts';
import type { Journal, JournalStatistics } from '../journal/journal.ts';
import type { MeasuredServerState } from './metrics.ts';

/** The time for which a count is reused. Several readers, e.g. two Prometheus servers and OTLP, share one count. */
const CACHED_MS = 5_000;

/** The time limit of a count. It is shorter than the usual time limit of Prometheus, which is 10 s. */
const COUNT_LIMIT_MS = 2_000;

interface FactSources {
  journal: Pick<Journal, 'statistics' | 'ownership'>;
  clock: Clock;
  streams: () => number;
  executions: () => number;
  queued: () => number;
}

export function createMeasuredServerStateReader({
  journal,
  clock,
  streams,
  executions,
  queued,
}: FactSources): () => Promise<MeasuredServerState> {
  let running: Promise<JournalStatistics | undefined> | undefined;
  let counted: { at: number; statistics: Promise<JournalStatistics | undefined> } | undefined;
  /** Counts the tasks. If the database hangs, only one count waits for it, and each reader gets an answer in time. */
  const count = (): Promise<JournalStatistics | undefined> => {
    // An unreachable journal is reported as a value, and not as an error.
    running ??= journal
      .statistics()
      .catch(() => undefined)
      .finally(() => (running = undefined));
    return resultWithin(clock, COUNT_LIMIT_MS, running);
  };
  const statistics = (): Promise<JournalStatistics | undefined> => {
    const now = clock.now();
    // The absolute value is used, because the clock may be set back.
    if (counted === undefined || Math.abs(now - counted.at) >= CACHED_MS)
      counted = { at: now, statistics: count() };
    return counted.statistics;
  };
  return async () => ({
    streams: streams(),
    executions: executions(),
    queued: queued(),
    leaseMs: journal.ownership.leaseMs(),
    statistics: await statistics(),
    now: clock.now(),
  });
}
