/**
 * Remembers which forms were sent, when, and how earlier forms about the same call ended. The memory is bounded
 * and ends with the process. A forgotten form is at worst shown once more.
 */
import type { PendingInput } from '../dialects/dialect.ts';
import { type ApprovalForm, approvalForms, type EarlierAttempts } from './form.ts';
import type { FormFields } from '../settings/approval-mode.ts';

const KEPT = 1_000;
/** After this many answers that do not count, the form no longer changes. The person can still decide in other ways. */
const MOST_TIMES = 4;

interface OfferOptions {
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
  fields?: FormFields;
}

export class OpenForms {
  /** When each form was first sent, and what it was about, by task and key. */
  readonly #since = new Map<string, { at: number; about: ApprovalForm['about'] }>();
  /** Earlier attempts, by task and call. */
  readonly #before = new Map<string, EarlierAttempts>();
  /** By task and key: until this time a person may decide on the page that they opened. */
  readonly #opened = new Map<string, number>();
  readonly #now: () => number;
  readonly #fields: FormFields;

  constructor({ now = () => performance.now(), fields = 'none' }: OfferOptions = {}) {
    this.#now = now;
    this.#fields = fields;
  }

  /** The forms that the bridge may show for a task now. */
  asks(taskId: string, asked: PendingInput): readonly ApprovalForm[] {
    return approvalForms(asked, (callId) => this.#before.get(nameOf(taskId, callId)), this.#fields);
  }

  /**
   * The person has opened the form's link. No other form asks about it until the link expires.
   * @param forMs milliseconds until the link expires
   */
  open(taskId: string, { key }: ApprovalForm, forMs: number): void {
    keep(this.#opened, nameOf(taskId, key), this.#now() + forMs);
  }

  isOpen(taskId: string, { key }: ApprovalForm): boolean {
    return (this.#opened.get(nameOf(taskId, key)) ?? Number.NEGATIVE_INFINITY) > this.#now();
  }

  /** Records that these forms are sent now. */
  out(taskId: string, asks: readonly ApprovalForm[]): void {
    for (const { key, about } of asks) {
      const name = nameOf(taskId, key);
      if (!this.#since.has(name)) keep(this.#since, name, { at: this.#now(), about });
    }
  }

  /** The subject of the form with this key; undefined if this process did not send the form. */
  wasAbout(taskId: string, key: string): ApprovalForm['about'] | undefined {
    return this.#since.get(nameOf(taskId, key))?.about;
  }

  /** Milliseconds since the form was first sent; undefined when this process did not send it. */
  age(taskId: string, { key }: ApprovalForm): number | undefined {
    const since = this.#since.get(nameOf(taskId, key));
    return since === undefined ? undefined : this.#now() - since.at;
  }

  /** The form's link has expired. The next link needs a form with another key. */
  renew(taskId: string, { callId }: ApprovalForm): void {
    const name = nameOf(taskId, callId);
    const { times = 0, note = '' } = this.#before.get(name) ?? {};
    keep(this.#before, name, { times: times + 1, note });
  }

  /** The answer did not count. The next form says so and has another key. */
  again(taskId: string, { callId }: ApprovalForm, note: string): void {
    const name = nameOf(taskId, callId);
    const times = (this.#before.get(name)?.times ?? 0) + 1;
    if (times < MOST_TIMES) keep(this.#before, name, { times, note });
  }
}

function nameOf(taskId: string, what: string): string {
  return `${taskId} ${what}`;
}

/** Removes the oldest entry when the map is full. */
function keep<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name);
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > KEPT && oldest !== undefined) map.delete(oldest);
}
