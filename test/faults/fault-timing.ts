/** Times the faults of a round: after a random time, or at a random event of the task. */
import type { Random } from './random.ts';

/** A fault may last some time. It starts at once, and the promise resolves at its end. */
export type Fault = () => Promise<void>;

export class FaultTiming {
  readonly #random: Random;
  #onEvent: (() => void) | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Tells that a reader has received an event. A planned fault may happen now. */
  heard(): void {
    this.#onEvent?.();
  }

  /**
   * Plans a fault for the next request.
   * @returns a function that waits for the end of the fault, or cancels it if the request has ended first
   */
  plan(fault: Fault): () => Promise<void> {
    let struck: Promise<void> | undefined;
    const strike = (): void => {
      struck ??= fault();
    };
    const callOff = this.#random.chance(0.5) ? this.#inTime(strike) : this.#atEvent(strike);
    return async () => {
      callOff();
      await struck;
    };
  }

  #inTime(strike: () => void): () => void {
    const delay = this.#random.between(0, this.#random.pick([30, 120, 500]));
    const timer = setTimeout(strike, delay);
    return () => clearTimeout(timer);
  }

  #atEvent(strike: () => void): () => void {
    let events = this.#random.between(1, this.#random.pick([3, 12, 100]));
    this.#onEvent = () => {
      events -= 1;
      if (events === 0) strike();
    };
    return () => {
      this.#onEvent = undefined;
    };
  }
}
