/** Reads the server's state for the gauges. The journal counts its tasks at most once in some seconds. */
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Journal, JournalStatistics } from '../journal/journal.ts';
import type { ServerFacts } from './metrics.ts';

/** Several readers, e.g. two Prometheus servers and OTLP, share one count. */
const CACHED_MS = 5_000;

interface FactSources {
  journal: Pick<Journal, 'statistics' | 'ownership'>;
  clock: Clock;
  streams: () => number;
  executions: () => number;
}

export function serverFacts({
  journal,
  clock,
  streams,
  executions,
}: FactSources): () => Promise<ServerFacts> {
  let counted: { at: number; statistics: Promise<JournalStatistics | undefined> } | undefined;
  const statistics = (): Promise<JournalStatistics | undefined> => {
    const now = clock.now();
    // The clock may be set back.
    if (counted === undefined || Math.abs(now - counted.at) >= CACHED_MS)
      // An unreachable journal is a fact, and not an error of the reader.
      counted = { at: now, statistics: journal.statistics().catch(() => undefined) };
    return counted.statistics;
  };
  return async () => ({
    streams: streams(),
    executions: executions(),
    leaseMs: journal.ownership.leaseMs(),
    statistics: await statistics(),
    now: clock.now(),
  });
}
