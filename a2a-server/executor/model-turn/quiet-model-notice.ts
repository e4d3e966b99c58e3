/** Adds a note to the task's status while a model sends nothing. Adds another note when the model answers. */
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Model } from '../../models/model.ts';
import { wholeUnitDurationText } from '../abort-scopes/time-limits.ts';

export class QuietModelNotice {
  readonly #model: Pick<Model, 'id' | 'quietMs'>;
  readonly #clock: Clock;
  readonly #note: (text: string) => void;
  #cancel: (() => void) | undefined;
  #periods = 0;

  /** Begins to wait for the model's first event. The caller must call `end` at the end of the turn. */
  constructor(model: Pick<Model, 'id' | 'quietMs'>, clock: Clock, note: (text: string) => void) {
    this.#model = model;
    this.#clock = clock;
    this.#note = note;
    this.#startQuietTimer();
  }

  /** Restarts the quiet time. The caller must call this function for each event of the model. */
  restart(): void {
    if (this.#periods > 0) this.#note(`${this.#model.id} answers.`);
    this.#periods = 0;
    this.end();
    this.#startQuietTimer();
  }

  end(): void {
    this.#cancel?.();
  }

  #startQuietTimer(): void {
    const { id, quietMs } = this.#model;
    if (quietMs === undefined) return;
    this.#cancel = this.#clock.after(quietMs, () => {
      this.#periods += 1;
      this.#note(
        `${id} has sent nothing for ${wholeUnitDurationText(this.#periods * quietMs)}. It may be reading a long prompt, reasoning without output, or busy.`,
      );
      this.#startQuietTimer();
    });
  }
}
