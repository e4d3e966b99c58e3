/**
 * Records which forms the bridge has sent, and when. For each call, it also counts the earlier forms that got no valid
 * answer. The number of records is limited, and the records are lost when the process ends. If a record is lost, the
 * person may see a form once more.
 */
import type { PendingInput } from '../dialects/dialect.ts';
import { type FormCandidate, buildFormCandidates, type EarlierForms } from './form.ts';
import { setBounded } from '../../shared/runtime/set-bounded.ts';
import { FORM_ROW_COLUMNS } from './form-rows.ts';
import type { FormFieldsSetting } from '../settings/approval-mode.ts';

const MAX_RECORDS = 1_000;
/**
 * After this many invalid answers, the person gets no further form for the call. No answer to the last form counts
 * then. The person can still decide in other ways.
 */
export const MAX_INVALID_ANSWERS = 4;

interface EarlierFormCounts extends EarlierForms {
  /** How many of the earlier forms got an invalid answer. The links of the others have expired. */
  invalid: number;
}

interface OfferOptions {
  /** A monotonic clock in milliseconds. */
  now?: () => number;
  fields?: FormFieldsSetting;
  /** Returns the width of a form's rows in the client's window now. */
  columns?: () => number;
  /**
   * Returns the title of a task, if the bridge has another open task too. Open tasks of earlier bridge processes count
   * too.
   */
  taskTitle?: (taskId: string) => string | undefined;
  /** Returns the name of the task's agent, if the bridge has several agents. */
  agentName?: (taskId: string) => string | undefined;
}

export class FormHistory {
  /**
   * For each form, the time at which the bridge showed it, and what the form is about. The key is the task id and the
   * form key.
   */
  readonly #since = new Map<string, { at: number; about: FormCandidate['about'] }>();
  /** The earlier forms for each call. None of them got a valid answer. The key is the task id and the call id. */
  readonly #before = new Map<string, EarlierFormCounts>();
  /** The last forms of calls that got too many invalid answers. The key is the task id and the form key. */
  readonly #formsWithIgnoredAnswers = new Map<string, true>();
  /**
   * For each opened form, the time at which its link expires. Until then, a person may decide on the page. The key is
   * the task id and the form key.
   */
  readonly #opened = new Map<string, number>();
  /** The width of the rows in the last forms of each task. The key is the task id. */
  readonly #columns = new Map<string, number>();
  readonly #options: OfferOptions;
  readonly #now: () => number;

  constructor(options: OfferOptions = {}) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The width of a form's rows in the client's window now. */
  get columns(): number {
    return this.#options.columns?.() ?? FORM_ROW_COLUMNS;
  }

  /** Returns the width of a form's rows now, if it is less than in the last forms of the task. Otherwise undefined. */
  narrowedColumns(taskId: string): number | undefined {
    const now = this.columns;
    return now < (this.#columns.get(taskId) ?? now) ? now : undefined;
  }

  /** Returns the forms of a task for the current width of the client's window. */
  offer(taskId: string, asked: PendingInput): readonly FormCandidate[] {
    setBounded(this.#columns, taskId, this.columns, MAX_RECORDS);
    return this.lastOffered(taskId, asked);
  }

  /**
   * Returns the forms of a task for the width at which they were last offered. The key of a form depends on how its
   * action is split into rows. With the last width, the keys stay the same. So an answer counts even if the person has
   * made the window wider.
   */
  lastOffered(taskId: string, asked: PendingInput): readonly FormCandidate[] {
    return buildFormCandidates(asked, (callId) => this.#before.get(nameOf(taskId, callId)), {
      fields: this.#options.fields ?? 'none',
      columns: this.#columns.get(taskId) ?? this.columns,
      task: this.#options.taskTitle?.(taskId),
      agent: this.#options.agentName?.(taskId),
    });
  }

  /**
   * Records that the person has opened the link of a form. Until the link expires, no other form asks about the action.
   * @param forMs the time until the link expires, in milliseconds
   */
  recordOpenedLink(taskId: string, { key }: FormCandidate, forMs: number): void {
    setBounded(this.#opened, nameOf(taskId, key), this.#now() + forMs, MAX_RECORDS);
  }

  isOpen(taskId: string, { key }: FormCandidate): boolean {
    return (this.#opened.get(nameOf(taskId, key)) ?? Number.NEGATIVE_INFINITY) > this.#now();
  }

  /**
   * Records that the bridge sends these forms in the state of an MCP task. The client polls the state, and shows a form
   * with the same key only once. So the time of the first sending counts.
   */
  recordSent(taskId: string, asks: readonly FormCandidate[]): void {
    this.recordShown(
      taskId,
      asks.filter(({ key }) => !this.#since.has(nameOf(taskId, key))),
    );
  }

  /**
   * Records that a tool call shows these forms now. A later tool call shows the same forms again, so their time starts
   * again.
   */
  recordShown(taskId: string, asks: readonly FormCandidate[]): void {
    for (const { key, about } of asks)
      setBounded(this.#since, nameOf(taskId, key), { at: this.#now(), about }, MAX_RECORDS);
  }

  /** Returns what the form with this key is about. Returns undefined if this process did not send the form. */
  subjectOfForm(taskId: string, key: string): FormCandidate['about'] | undefined {
    return this.#since.get(nameOf(taskId, key))?.about;
  }

  /**
   * Returns how long the person has had the form, in milliseconds. Returns undefined if this process did not send it.
   */
  ageOfFormMs(taskId: string, { key }: FormCandidate): number | undefined {
    const since = this.#since.get(nameOf(taskId, key));
    return since === undefined ? undefined : this.#now() - since.at;
  }

  /** Records that the link of a form has expired. The next form for the call has another key and a new link. */
  recordExpiredLink(taskId: string, { callId }: FormCandidate): void {
    const name = nameOf(taskId, callId);
    const { count = 0, note = '', invalid = 0 } = this.#before.get(name) ?? {};
    setBounded(this.#before, name, { count: count + 1, note, invalid }, MAX_RECORDS);
  }

  /**
   * Records an invalid answer. The next form for the call explains the problem and has another key. After too many
   * invalid answers, there is no next form.
   */
  recordInvalidAnswer(taskId: string, { callId, key }: FormCandidate, note: string): void {
    const name = nameOf(taskId, callId);
    const { count = 0, invalid = 0 } = this.#before.get(name) ?? {};
    if (invalid + 1 < MAX_INVALID_ANSWERS)
      setBounded(this.#before, name, { count: count + 1, note, invalid: invalid + 1 }, MAX_RECORDS);
    else setBounded(this.#formsWithIgnoredAnswers, nameOf(taskId, key), true, MAX_RECORDS);
  }

  /**
   * Returns true if this form was the last one for its call, so that no answer to it counts. D1: only a valid decision
   * has an effect. An answer that comes too fast is invalid. Without this check, a later answer of the same program to
   * this form would be valid.
   */
  ignoresAnswersTo(taskId: string, { key }: FormCandidate): boolean {
    return this.#formsWithIgnoredAnswers.has(nameOf(taskId, key));
  }
}

function nameOf(taskId: string, what: string): string {
  return `${taskId} ${what}`;
}
