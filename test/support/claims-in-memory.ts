/** Decision claims in memory, for tests that do not need the database. */
import type { AskedQuestion, DecisionClaims } from '../../bridge/state/decision-claims.ts';

const nameOf = (asking: AskedQuestion): string => JSON.stringify(asking);

export function claimsInMemory(): DecisionClaims {
  const taken = new Map<string, string>();
  return {
    take(asking, messageId) {
      const before = taken.get(nameOf(asking));
      if (before === undefined) taken.set(nameOf(asking), messageId);
      const free = before === undefined || before === messageId;
      return Promise.resolve(free ? undefined : { messageId: before, running: true });
    },
    release(asking, messageId) {
      if (taken.get(nameOf(asking)) === messageId) taken.delete(nameOf(asking));
    },
  };
}
