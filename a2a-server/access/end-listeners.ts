/** Calls the listeners of a sign-in's end: of a token, or of a session of the approval page. */
export interface EndListeners {
  /**
   * Calls `act` once when the sign-in ends, also if it has ended already. Returns a function that removes the listener.
   */
  add(id: string, act: () => void): () => void;
  /** Calls the listeners of each sign-in that has ended. */
  check(): void;
  /** Calls the listeners of this sign-in. */
  end(id: string): void;
}

/** @param onFailure called if `hasEnded` fails */
export function createEndListeners(
  hasEnded: (id: string) => Promise<boolean>,
  onFailure: (error: unknown) => void,
): EndListeners {
  const listeners = new Map<string, Set<() => void>>();
  const end = (id: string): void => {
    const acts = listeners.get(id);
    listeners.delete(id);
    for (const act of acts ?? []) act();
  };
  const checkOne = (id: string): void => {
    hasEnded(id)
      .then((ended) => ended && end(id))
      .catch(onFailure);
  };
  return {
    add(id, act) {
      const acts = listeners.get(id) ?? new Set();
      listeners.set(id, acts.add(act));
      checkOne(id);
      return () => {
        acts.delete(act);
        if (acts.size === 0 && listeners.get(id) === acts) listeners.delete(id);
      };
    },
    check() {
      for (const id of listeners.keys()) checkOne(id);
    },
    end,
  };
}
