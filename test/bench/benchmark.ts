/** The types of a benchmark. A benchmark does not fail. It returns its results, and the aim for each. */
import { z } from 'zod';

const unit = z.enum(['ratio', 'ms', 'MB', 'KB', 'events/s', 'tasks/s', 'count']);
export type Unit = z.infer<typeof unit>;

export const figure = z.object({
  name: z.string(),
  value: z.number(),
  unit,
  /** The 95 % confidence interval of the value, for figures from samples. */
  spread: z.tuple([z.number(), z.number()]).readonly().optional(),
  /** The aim of the project for this figure. Figures without an aim only explain other figures. */
  aim: z.object({ at: z.enum(['least', 'most']), value: z.number() }).optional(),
});
export type Figure = z.infer<typeof figure>;

export const section = z.object({ id: z.string(), title: z.string(), figures: z.array(figure) });
/** The figures of one benchmark. */
export type Section = z.infer<typeof section>;

export const run = z.object({
  /** The measured commit. Absent outside a git repository, and in files of older runs. */
  commit: z.string().optional(),
  /** The description of the machine. */
  on: z.string(),
  sections: z.array(section),
});
/** The format that `--json` prints and `--compare` reads. */
export type Run = z.infer<typeof run>;

export interface Benchmark {
  /** The name of the benchmark for `--only`. */
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
