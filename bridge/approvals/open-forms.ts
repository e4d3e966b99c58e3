/**
 * The forms that are out: since when, and what became of earlier ones about the same call. What is forgotten here, by
 * bounds or with the bridge, costs no more than a form's being shown once more.
 */
import type { Asked } from '../dialects/dialect.ts';
import { type Ask, asksOf, type Before } from './form.ts';
import type { FormFields } from '../settings/approval-mode.ts';

const KEPT = 1_000;
/** A form that is answered by a machine, or always wrongly, is not asked for ever: other ways to decide stay. */
const MOST_TIMES = 4;

export interface OfferOptions {
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
  fields?: FormFields;
}

export class OpenForms {
  /** When a form first went out, and what it was about, by task and key. */
  readonly #since = new Map<string, { at: number; about: Ask['about'] }>();
  /** By task and call. */
  readonly #before = new Map<string, Before>();
  /** Until when a person has a page open to decide there, by task and key. */
  readonly #opened = new Map<string, number>();
  readonly #now: () => number;
  readonly #fields: FormFields;

  constructor({ now = () => performance.now(), fields = 'none' }: OfferOptions = {}) {
    this.#now = now;
    this.#fields = fields;
  }

  /** What a person may be asked of a task at the moment. */
  asks(taskId: string, asked: Asked): readonly Ask[] {
    return asksOf(asked, (callId) => this.#before.get(nameOf(taskId, callId)), this.#fields);
  }

  /** The person follows the form's link: nothing is asked of them again while the link holds. @param forMs that long */
  open(taskId: string, { key }: Ask, forMs: number): void {
    keep(this.#opened, nameOf(taskId, key), this.#now() + forMs);
  }

  isOpen(taskId: string, { key }: Ask): boolean {
    return (this.#opened.get(nameOf(taskId, key)) ?? Number.NEGATIVE_INFINITY) > this.#now();
  }

  /** These forms go out now. */
  out(taskId: string, asks: readonly Ask[]): void {
    for (const { key, about } of asks) {
      const name = nameOf(taskId, key);
      if (!this.#since.has(name)) keep(this.#since, name, { at: this.#now(), about });
    }
  }

  /** What the form was about that went out under this key; undefined when it was not from here. */
  wasAbout(taskId: string, key: string): Ask['about'] | undefined {
    return this.#since.get(nameOf(taskId, key))?.about;
  }

  /** Milliseconds since the form first went out; undefined when that was not from here. */
  age(taskId: string, { key }: Ask): number | undefined {
    const since = this.#since.get(nameOf(taskId, key));
    return since === undefined ? undefined : this.#now() - since.at;
  }

  /** The form's link has expired: the next one is another form. */
  renew(taskId: string, { callId }: Ask): void {
    const name = nameOf(taskId, callId);
    const { times = 0, note = '' } = this.#before.get(name) ?? {};
    keep(this.#before, name, { times: times + 1, note });
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
