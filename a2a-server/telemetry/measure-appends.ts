import type { Journal } from '../journal/journal.ts';
import type { Metrics } from './metrics.ts';

/** Measures the appends of a journal. Changes the journal's `append`, and returns the journal. */
export function measureAppends<Timed extends Journal>(
  journal: Timed,
  metrics: Pick<Metrics, 'append'>,
): Timed {
  const append = journal.append.bind(journal);
  journal.append = async (what) => {
    const since = performance.now();
    const passed = (): number => (performance.now() - since) / 1000;
    try {
      const result = await append(what);
      metrics.append(result.type, passed());
      return result;
    } catch (error) {
      metrics.append('error', passed());
      throw error;
    }
  };
  return journal;
}
