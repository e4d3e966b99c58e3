/** Sends SIGKILL to the programs of a round: after a time, or at an event of the task. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Findings } from './findings.ts';
import type { Place } from './place.ts';
import type { Random } from './random.ts';

type Target = 'server' | 'bridge' | 'both';

export class Killer {
  /** The number of remaining kills. */
  left: number;
  readonly #place: Place;
  readonly #random: Random;
  readonly #findings: Findings;
  #onEvent: (() => void) | undefined;

  constructor(
    place: Place,
    { kills, random, findings }: { kills: number; random: Random; findings: Findings },
  ) {
    this.#place = place;
    this.left = kills;
    this.#random = random;
    this.#findings = findings;
  }

  /** Tells the killer that a reader has received an event. A planned kill may happen now. */
  heard(): void {
    this.#onEvent?.();
  }

  /**
   * Plans a kill for the next request, or none. @returns a function that waits for the kill, or cancels it if the
   * request has ended first
   */
  strike(bridged: boolean): () => Promise<void> {
    const random = this.#random;
    if (this.left <= 0 || random.chance(0.2)) return async () => undefined;
    const target: Target = bridged ? random.pick(['server', 'bridge', 'both']) : 'server';
    const again = random.chance(0.1) ? random.between(0, 300) : undefined;
    let struck: Promise<void> | undefined;
    const kill = (): void => {
      struck ??= this.#kill(target, again);
    };
    const callOff = random.chance(0.5) ? this.#inTime(kill) : this.#atEvent(kill);
    return async () => {
      callOff();
      await struck;
    };
  }

  #inTime(kill: () => void): () => void {
    const delay = this.#random.between(0, this.#random.pick([30, 120, 500]));
    const timer = setTimeout(kill, delay);
    return () => clearTimeout(timer);
  }

  #atEvent(kill: () => void): () => void {
    let events = this.#random.between(1, this.#random.pick([3, 12, 100]));
    this.#onEvent = () => {
      events -= 1;
      if (events === 0) kill();
    };
    return () => {
      this.#onEvent = undefined;
    };
  }

  async #kill(target: Target, again: number | undefined): Promise<void> {
    this.#count(target);
    const [starting] = await Promise.all([
      target === 'server' ? false : this.#place.killBridge(),
      target === 'bridge' ? undefined : this.#place.killServer(),
    ]);
    if (starting) this.#findings.count('kills: kills during initialize');
    if (again === undefined || target === 'bridge') return;
    await pause(again);
    this.#count('a server that was just starting');
    await this.#place.killServer();
  }

  #count(target: string): void {
    this.left -= 1;
    this.#findings.count(`kills: kills of ${target}`);
    this.#findings.count('kills: kills');
  }
}
