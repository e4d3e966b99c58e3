/** All benchmarks, in the order in which they run. */
import { abort } from './abort.ts';
import { append } from './append.ts';
import { appendPostgres } from './append-postgres.ts';
import { approval } from './approval.ts';
import type { Benchmark } from './benchmark.ts';
import { bridge } from './bridge.ts';
import { bridgeStart } from './bridge-start.ts';
import { cancel } from './cancel.ts';
import { cluster } from './cluster.ts';
import { crowd } from './crowd.ts';
import { inFlight } from './in-flight.ts';
import { longJournal } from './long-journal.ts';
import { memory } from './memory.ts';
import { overload } from './overload.ts';
import { parked } from './parked.ts';
import { resume } from './resume.ts';
import { soakTurns } from './soak.ts';
import { start } from './start.ts';
import { stream } from './stream.ts';

export const BENCHMARKS: readonly Benchmark[] = [
  stream,
  approval,
  bridge,
  bridgeStart,
  inFlight,
  memory,
  start,
  append,
  appendPostgres,
  cluster,
  longJournal,
  parked,
  resume,
  crowd,
  overload,
  soakTurns,
  abort,
  cancel,
];
