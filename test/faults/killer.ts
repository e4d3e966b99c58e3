/** Sends SIGKILL to the programs of a round. */
import { setTimeout as pause } from 'node:timers/promises';
import { FaultTiming } from './fault-timing.ts';
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
  readonly #timing: FaultTiming;

  constructor(
    place: Place,
    { kills, random, findings }: { kills: number; random: Random; findings: Findings },
  ) {
    this.#place = place;
    this.left = kills;
    this.#random = random;
    this.#findings = findings;
    this.#timing = new FaultTiming(random);
  }

  /** Tells the killer that a reader has received an event. A planned kill may happen now. */
  heard(): void {
    this.#timing.heard();
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
    return this.#timing.plan(() => this.#kill(target, again));
  }

  async #kill(target: Target, again: number | undefined): Promise<void> {
    this.#count(target);
    const [starting] = await Promise.all([
      target === 'server' ? false : this.#place.bridge.kill(),
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
