import { taskEndedRefusal, type CommandRefusal, type CommandOutcome } from './command-outcome.ts';
import type { Decider, TaskEvent } from './events.ts';
import { foldNextEvents } from './fold.ts';
import { unexpiredGrants } from './grants.ts';
import { parkOrContinue } from './pending.ts';
import { isTerminal, PARKED_STATES, waitingCalls, type Snapshot } from './snapshot.ts';

/**
 * Revokes grants: `(snapshot, grant ids) → events | refusal`. Total and pure. A tool call that a revoked grant allowed
 * waits for a decision if it has not started.
 */
export function revokeGrants(
  snapshot: Snapshot,
  wanted: readonly string[] | 'all',
  { by, at }: { by: Decider; at: number },
): CommandOutcome {
  if (isTerminal(snapshot)) return taskEndedRefusal(snapshot);
  const known = unexpiredGrants(snapshot.grants, at).map(({ grantId }) => grantId);
  const grantIds = wanted === 'all' ? known : [...new Set(wanted)];
  const unknown = grantIds.filter((grantId) => !known.includes(grantId));
  if (unknown.length > 0 || grantIds.length === 0) return unknownGrant(snapshot, unknown, known);
  const event: TaskEvent = { type: 'grant.revoked', grantIds, by };
  const after = foldNextEvents(snapshot, [event], at);
  const asksMore = waitingCalls(after).length > waitingCalls(snapshot).length;
  // Calls that a revoked grant allowed now wait for a decision. If the task already waits, the same append lists them
  // as pending actions. If the task is working, its execution parks it later, after the calls that still run.
  const parked = PARKED_STATES.has(snapshot.status.state);
  return parked && asksMore ? [event, parkOrContinue(after)] : [event];
}

function unknownGrant(
  { taskId }: Snapshot,
  unknown: readonly string[],
  known: readonly string[],
): CommandRefusal {
  const message =
    known.length === 0
      ? `Task ${taskId} has no grants.`
      : `Task ${taskId} has no grant ${unknown.join(', ')}: it does not exist, or has ended. Grants in force: ${known.join(', ')}.`;
  return {
    type: 'refuse',
    reason: 'UNKNOWN_GRANT',
    message: `${message} Nothing was changed.`,
    facts: { grants: known.join(' ') },
  };
}
