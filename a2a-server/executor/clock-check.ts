/**
 * Checks that the wall clock is plausible. Deadlines and retention use the wall clock. Without this check, a clock that
 * jumps ahead by 400 days would end every waiting task and delete every session.
 *
 * The last plausible time is stored. The check compares the wall clock with this stored time. An implausible clock does
 * not change the stored time. The check succeeds again after the clock is corrected, or after the operator stores a new
 * time.
 */
import type { ClockReading } from '../../shared/state/clock-mark.ts';
import { clockJumpMs } from '../../shared/state/clock-mark.ts';

interface ClockMarkStore {
  read(): Promise<ClockReading | undefined>;
  write(reading: ClockReading): Promise<void>;
}

interface ClockCheckOptions {
  marks: ClockMarkStore;
  readClocks: () => Promise<ClockReading>;
  /**
   * Called when the clock becomes implausible or plausible again.
   * @param jump in milliseconds; 0 if the clock is plausible
   */
  onChange: (jump: number) => void;
}

export class ClockCheck {
  readonly #options: ClockCheckOptions;
  #jump = 0;

  constructor(options: ClockCheckOptions) {
    this.#options = options;
  }

  /** The jump of the wall clock at the last check, in milliseconds. 0 if the clock was plausible. */
  get jump(): number {
    return this.#jump;
  }

  /**
   * Returns the wall clock in milliseconds since 1970, or undefined if it is implausible.
   * @throws the error of the store
   */
  async plausibleTime(): Promise<number | undefined> {
    const now = await this.check();
    if (this.#jump !== 0) return undefined;
    await this.#options.marks.write(now);
    return now.now;
  }

  /** Compares the clock with the stored time, and stores nothing. @throws the error of the store */
  async check(): Promise<ClockReading> {
    const { marks, readClocks, onChange } = this.#options;
    const [mark, now] = await Promise.all([marks.read(), readClocks()]);
    const before = this.#jump;
    this.#jump = mark === undefined ? 0 : clockJumpMs(mark, now);
    if ((this.#jump === 0) !== (before === 0)) onChange(this.#jump);
    return now;
  }
}
