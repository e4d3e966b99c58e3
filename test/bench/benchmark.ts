/** What a benchmark returns. Benchmarks judge nothing: they state the aim and what the run reached. */
import { z } from 'zod';

const unit = z.enum(['ratio', 'ms', 'MB', 'KB', 'events/s', 'count']);
export type Unit = z.infer<typeof unit>;

export const figure = z.object({
  name: z.string(),
  value: z.number(),
  unit,
  /** The range in which the value lies with 95 % confidence, where samples give one. */
  spread: z.tuple([z.number(), z.number()]).readonly().optional(),
  /** What the project wants. A figure without an aim explains the others. */
  aim: z.object({ at: z.enum(['least', 'most']), value: z.number() }).optional(),
});
export type Figure = z.infer<typeof figure>;

export const section = z.object({ id: z.string(), title: z.string(), figures: z.array(figure) });
/** The figures of one benchmark. */
export type Section = z.infer<typeof section>;

export const run = z.object({
  /** The commit that was measured; absent outside a git repository, and in runs before figures had one. */
  commit: z.string().optional(),
  /** The machine. */
  on: z.string(),
  sections: z.array(section),
});
/** What `--json` prints, and what `--compare` reads. */
export type Run = z.infer<typeof run>;

export interface Benchmark {
  /** The name for `--only`. */
  id: string;
  title: string;
  run: (context: BenchContext) => Promise<Figure[]>;
}

export interface BenchContext {
  /** The directory of the built programs, with `a2a-server/main.js` and `bridge/main.js` below it. */
  dist: string;
  /** A directory for this run, deleted at its end. */
  directory: string;
  /** Writes a line of progress to stderr. */
  note: (words: string) => void;
}
