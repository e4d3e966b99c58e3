/**
 * Records which forms the bridge has sent, when it sent them, and how many earlier forms for the same call got no valid
 * answer. The number of records is limited, and they are lost when the process ends. If a record is lost, the person
 * may see a form once more.
 */
import type { PendingInput } from '../dialects/dialect.ts';
import { type ApprovalForm, buildApprovalForms, type EarlierForms } from './form.ts';
import type { FormDetailLevel } from '../settings/approval-mode.ts';

const MAX_RECORDS = 1_000;
/**
 * After this many invalid answers, the person gets no further form for the call. The person can still decide in other
 * ways.
 */
const MAX_INVALID_ANSWERS = 4;

interface OfferOptions {
  /** A monotonic clock in milliseconds. */
  now?: () => number;
  fields?: FormDetailLevel;
}

export class OpenForms {
  /** The time at which each form was first sent, and what it is about. The key is the task id and the form key. */
  readonly #since = new Map<string, { at: number; about: ApprovalForm['about'] }>();
  /** The forms for each call that got no valid answer. The key is the task id and the call id. */
  readonly #before = new Map<string, EarlierForms>();
  /**
   * The time until which a person may decide on the page that a form has opened. The key is the task id and the form
   * key.
   */
  readonly #opened = new Map<string, number>();
  readonly #now: () => number;
  readonly #fields: FormDetailLevel;

  constructor({ now = () => performance.now(), fields = 'none' }: OfferOptions = {}) {
    this.#now = now;
    this.#fields = fields;
  }

  /** Returns the forms that the bridge may show for a task now. */
  asks(taskId: string, asked: PendingInput): readonly ApprovalForm[] {
    return buildApprovalForms(asked, (callId) => this.#before.get(nameOf(taskId, callId)), this.#fields);
  }

  /**
   * Records that the person has opened the link of a form. Until the link expires, no other form asks about the action.
   * @param forMs the time until the link expires, in milliseconds
   */
  open(taskId: string, { key }: ApprovalForm, forMs: number): void {
    keep(this.#opened, nameOf(taskId, key), this.#now() + forMs);
  }

  isOpen(taskId: string, { key }: ApprovalForm): boolean {
    return (this.#opened.get(nameOf(taskId, key)) ?? Number.NEGATIVE_INFINITY) > this.#now();
  }

  /** Records that the bridge sends these forms now. */
  out(taskId: string, asks: readonly ApprovalForm[]): void {
    for (const { key, about } of asks) {
      const name = nameOf(taskId, key);
      if (!this.#since.has(name)) keep(this.#since, name, { at: this.#now(), about });
    }
  }

  /** Returns what the form with this key is about. Returns undefined if this process did not send the form. */
  wasAbout(taskId: string, key: string): ApprovalForm['about'] | undefined {
    return this.#since.get(nameOf(taskId, key))?.about;
  }

  /**
   * Returns how long ago the form was first sent, in milliseconds. Returns undefined if this process did not send it.
   */
  age(taskId: string, { key }: ApprovalForm): number | undefined {
    const since = this.#since.get(nameOf(taskId, key));
    return since === undefined ? undefined : this.#now() - since.at;
  }

  /** Records that the link of a form has expired. The next form for the call has another key and a new link. */
  renew(taskId: string, { callId }: ApprovalForm): void {
    const name = nameOf(taskId, callId);
    const { count = 0, note = '' } = this.#before.get(name) ?? {};
    keep(this.#before, name, { count: count + 1, note });
  }

  /** Records an invalid answer. The next form for the call explains the problem and has another key. */
  again(taskId: string, { callId }: ApprovalForm, note: string): void {
    const name = nameOf(taskId, callId);
    const count = (this.#before.get(name)?.count ?? 0) + 1;
    if (count < MAX_INVALID_ANSWERS) keep(this.#before, name, { count, note });
  }
}

function nameOf(taskId: string, what: string): string {
  return `${taskId} ${what}`;
}

/** Adds an entry. Removes the oldest entry when the map is full. */
function keep<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name);
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > MAX_RECORDS && oldest !== undefined) map.delete(oldest);
}
