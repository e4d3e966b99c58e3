/**
 * Calls listeners when an access ends: a token is revoked or expires, or a session of the approval page is signed out.
 * @param onFailure called if `hasEnded` fails
 */
export function createAccessEndListeners(
  hasEnded: (id: string) => Promise<boolean>,
  onFailure: (error: unknown) => void,
) {
  const listeners = new Map<string, Set<() => void>>();
  /** Calls the listeners of this access. */
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
    /**
     * Calls `act` once when the access ends, also if it has ended already. Returns a function that removes the listener.
     */
    add(id: string, act: () => void): () => void {
      const acts = listeners.get(id) ?? new Set();
      listeners.set(id, acts.add(act));
      checkOne(id);
      return () => {
        acts.delete(act);
        if (acts.size === 0 && listeners.get(id) === acts) listeners.delete(id);
      };
    },
    /** Calls the listeners of each access that has ended. */
    check(): void {
      for (const id of listeners.keys()) checkOne(id);
    },
    end,
  };
}
