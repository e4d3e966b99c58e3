/**
 * The forms that are out: since when, and what became of earlier ones about the same call. What is forgotten here, by
 * bounds or with the bridge, costs no more than a form's being shown once more.
 */
import type { Asked } from '../dialects/dialect.ts';
import { type Ask, asksOf, type Before } from './form.ts';

const KEPT = 1_000;
/** A form that is answered by a machine, or always wrongly, is not asked for ever: other ways to decide stay. */
const MOST_TIMES = 4;

export class Offers {
  /** When a form first went out, by task and key. */
  readonly #since = new Map<string, number>();
  /** By task and call. */
  readonly #before = new Map<string, Before>();
  readonly #now: () => number;

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** What a person may be asked of a task at the moment. */
  asks(taskId: string, asked: Asked): readonly Ask[] {
    return asksOf(asked, (callId) => this.#before.get(nameOf(taskId, callId)));
  }

  /** These forms go out now. */
  out(taskId: string, asks: readonly Ask[]): void {
    for (const { key } of asks) {
      const name = nameOf(taskId, key);
      if (!this.#since.has(name)) keep(this.#since, name, this.#now());
    }
  }

  /** Milliseconds since the form first went out; undefined when that was not from here. */
  age(taskId: string, { key }: Ask): number | undefined {
    const since = this.#since.get(nameOf(taskId, key));
    return since === undefined ? undefined : this.#now() - since;
  }

  /** The answer did not count, and the form says so the next time: it is another form then. */
  again(taskId: string, { callId }: Ask, note: string): void {
    const name = nameOf(taskId, callId);
    const times = (this.#before.get(name)?.times ?? 0) + 1;
    if (times < MOST_TIMES) keep(this.#before, name, { times, note });
  }
}

function nameOf(taskId: string, what: string): string {
  return `${taskId} ${what}`;
}

/** The newest are kept. */
function keep<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name);
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > KEPT && oldest !== undefined) map.delete(oldest);
}
