/** The command that takes back trust: `(snapshot, command) → events | refusal`, total and pure. */
import { ended, type Refusal, type Ruling } from './commands.ts';
import type { Decider, TaskEvent } from './events.ts';
import { fold } from './fold.ts';
import { standing } from './grants.ts';
import { parkOrMove } from './pending.ts';
import { isTerminal, PARKED_STATES, waitingCalls, type Snapshot } from './snapshot.ts';

/** Takes back trust. What it let run and has not started is asked for again. */
export function revoke(
  snapshot: Snapshot,
  wanted: readonly string[] | 'all',
  by: Decider,
  at: number,
): Ruling {
  if (isTerminal(snapshot)) return ended(snapshot);
  const known = standing(snapshot.grants, at).map(({ grantId }) => grantId);
  const grantIds = wanted === 'all' ? known : [...new Set(wanted)];
  const unknown = grantIds.filter((grantId) => !known.includes(grantId));
  if (unknown.length > 0 || grantIds.length === 0) return unknownGrant(snapshot, unknown, known);
  const event: TaskEvent = { type: 'grant.revoked', grantIds, by };
  const after = fold(snapshot, { seq: snapshot.seq + 1, at, event });
  const asksMore = waitingCalls(after).length > waitingCalls(snapshot).length;
  // While the task moves, its primary sees to it: another call of the turn may be running.
  const parked = PARKED_STATES.has(snapshot.status.state);
  return { type: 'append', events: parked && asksMore ? [event, parkOrMove(after)] : [event] };
}

function unknownGrant({ taskId }: Snapshot, unknown: readonly string[], known: readonly string[]): Refusal {
  const stand = known.length > 0 ? `These stand: ${known.join(', ')}.` : 'None stands.';
  return {
    type: 'refuse',
    reason: 'UNKNOWN_GRANT',
    message: `Task ${taskId} has no grant${unknown.length > 0 ? ` ${unknown.join(', ')}` : ' to take back'}: it was never given, or counts no more. ${stand} Nothing was changed.`,
    facts: { grants: known.join(' ') },
  };
}
