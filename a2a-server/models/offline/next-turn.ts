/**
 * What the offline model says and asks for next: a pure function of the prompt and the tools it is offered.
 *
 * The steps of all unanswered messages are walked in order, together with the turns that are already in the
 * conversation. The first step without a turn is the next one; when there is none, the work is summed up.
 */
import { missingFor, unmadeAfter, type Unmade } from './dependence.ts';
import { readMessage } from './read-message.ts';
import { callsOf, type PlannedCall, type Step } from './step.ts';
import { CHANGES } from './tool-names.ts';
import type { CallResult, Unanswered } from './unanswered.ts';
import {
  announce,
  confess,
  describe,
  LANGUAGE,
  notUnderstood,
  report,
  summary,
  type Tally,
  wasDenied,
  WHAT_I_AM,
} from './wording.ts';

/** Something to say: `repeat` chunks of `text`, or `text` word by word. */
export interface Said {
  text: string;
  repeat?: number;
}

export interface AskedCall extends PlannedCall {
  id: string;
}

/** One turn. Without calls it is the last one, and then it always says something. */
export interface NextTurn {
  said: Said[];
  calls: AskedCall[];
}

export function nextTurn({ requests, turns }: Unanswered, offered: ReadonlySet<string>): NextTurn {
  const readings = requests.map((request) => ({ ...readMessage(request.text), fresh: request.fresh }));
  const steps = readings.flatMap((reading) => reading.steps);
  const said: Said[] = [];
  const fresh = readings.filter((reading) => reading.fresh).flatMap((reading) => reading.misread);
  if (fresh.length > 0) said.push({ text: confess(fresh, steps.length === 0) });

  const walk = new Walk(offered);
  for (const [at, step] of steps.entries()) {
    const current = walk.taken === turns.length;
    if (step.type === 'say') {
      if (current) said.push(step);
      continue;
    }
    const obstacle = walk.obstacle(step);
    if (obstacle !== undefined) {
      walk.passOver(step, obstacle);
      if (current)
        said.push({ text: `Not tried: ${callsOf(step).map(describe).join(' and ')}, because ${obstacle}.` });
      continue;
    }
    const past = turns[walk.taken];
    if (past === undefined) {
      said.push({ text: announce(step) });
      return {
        said,
        calls: callsOf(step).map((call, index) => ({ ...call, id: `step-${at + 1}-${index + 1}` })),
      };
    }
    walk.take(step, past.results);
    if (walk.taken === turns.length) said.push(...reports(step, past.results).map((text) => ({ text })));
  }
  if (walk.called) {
    const misread = notUnderstood(readings.flatMap((reading) => reading.misread));
    said.push({ text: summary({ ...walk.tally, undone: [...walk.tally.undone, ...misread] }) });
  }
  if (said.every(({ text }) => text === ''))
    said.push({ text: `${WHAT_I_AM} There was nothing to do.\n${LANGUAGE}` });
  return { said, calls: [] };
}

/** How far the steps have come. */
class Walk {
  readonly tally: Record<keyof Tally, string[]> = { done: [], failed: [], undone: [] };
  /** Turns of the conversation that belong to steps walked so far. */
  taken = 0;
  #unmade: Unmade = new Set();
  readonly #offered: ReadonlySet<string>;

  constructor(offered: ReadonlySet<string>) {
    this.#offered = offered;
  }

  get called(): boolean {
    const { done, failed, undone } = this.tally;
    return done.length + failed.length + undone.length > 0;
  }

  /** Why the step can't be tried, as the words after `because`. */
  obstacle(step: Step): string | undefined {
    const calls = callsOf(step);
    const absent = calls.find((call) => !this.#offered.has(call.tool));
    if (absent !== undefined) return `the tool ${absent.tool.slice(0, 200)} is not offered here`;
    const missing = calls.map((call) => missingFor(call, this.#unmade)).find((file) => file !== undefined);
    return missing === undefined ? undefined : `an earlier change of ${missing} was not made`;
  }

  passOver(step: Step, obstacle: string): void {
    for (const call of callsOf(step)) {
      this.tally.undone.push(`${describe(call)} (not tried: ${obstacle})`);
      this.#unmade = unmadeAfter(this.#unmade, call, false);
    }
  }

  take(step: Step, results: readonly CallResult[]): void {
    for (const [index, call] of callsOf(step).entries()) {
      const result = results[index];
      const done = result !== undefined && !result.isError;
      if (done) this.tally.done.push(describe(call));
      else if (result !== undefined && wasDenied(result))
        this.tally.undone.push(`${describe(call)} (denied)`);
      else this.tally.failed.push(describe(call));
      this.#unmade = unmadeAfter(this.#unmade, call, done);
    }
    this.taken += 1;
  }
}

/** Changes that worked are summed up at the end; everything else is reported at once. */
function reports(step: Step, results: readonly CallResult[]): string[] {
  return callsOf(step).flatMap((call, index) => {
    const result = results[index];
    if (result === undefined || (!result.isError && CHANGES.has(call.tool))) return [];
    return [report(call, result)];
  });
}
