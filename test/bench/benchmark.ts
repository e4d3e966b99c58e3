/** What a benchmark gives back. Benchmarks judge nothing: they say what was aimed at, and what was reached. */

export type Unit = 'ratio' | 'ms' | 'MB' | 'KB' | 'events/s' | 'count';

export interface Figure {
  name: string;
  value: number;
  unit: Unit;
  /** Where the project wants it to be. A figure without one is there to make sense of the others. */
  aim?: { at: 'least' | 'most'; value: number };
}

export interface Benchmark {
  /** How `--only` names it. */
  id: string;
  title: string;
  run: (context: BenchContext) => Promise<Figure[]>;
}

export interface BenchContext {
  /** Where the built programs lie, `a2a-server/main.js` and `bridge/main.js` below it. */
  dist: string;
  /** A directory of the run's own, gone when it is over. */
  directory: string;
  /** Says on stderr what is being done. */
  note: (words: string) => void;
}
