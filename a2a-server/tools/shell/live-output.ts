/** Joins small pieces of live output into larger pieces, with a short delay. */
import type { Clock } from '../../../shared/runtime/clock.ts';

const FLUSH_MS = 50;
const FLUSH_CHARACTERS = 8 * 1024;
/** The maximum length of live output, in characters. The result still has the end of the output. */
const MAX_CHARACTERS = 1_000_000;

export class LiveCommandOutput {
  readonly #emit: (text: string) => void;
  readonly #clock: Clock;
  #waiting = '';
  #total = 0;
  #callOff: (() => void) | undefined;

  constructor(emit: (text: string) => void, clock: Clock) {
    this.#emit = emit;
    this.#clock = clock;
  }

  push(text: string): void {
    const room = MAX_CHARACTERS - this.#total;
    if (room <= 0) return;
    this.#total += text.length;
    this.#waiting +=
      text.length <= room ? text : `${text.slice(0, room)}\n[… further output is not shown live …]\n`;
    if (this.#waiting.length >= FLUSH_CHARACTERS) this.flush();
    else this.#callOff ??= this.#clock.after(FLUSH_MS, () => this.flush());
  }

  flush(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    if (this.#waiting === '') return;
    const text = this.#waiting;
    this.#waiting = '';
    this.#emit(text);
  }
}
