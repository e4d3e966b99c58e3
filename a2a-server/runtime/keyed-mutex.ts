/** Runs functions with the same key one after the other. Functions with other keys do not wait. */
export class KeyedMutex {
  /** For each key, resolves when its last function has ended. */
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `act` when the earlier functions of this key have ended. Returns its result. */
  async run<Result>(key: string, act: () => Promise<Result>): Promise<Result> {
    const earlier = this.#last.get(key);
    const result = earlier === undefined ? act() : earlier.then(act);
    const ended = result.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, ended);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }
}
