/** Four eyes: a principal who sent the task a message may not approve its tool calls. Pure. */
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { CommandRefusal } from './command-outcome.ts';
import type { ResolvedDecision } from './decide.ts';
import type { Decider } from './events.ts';
import { callOf, type Call, type Snapshot } from './snapshot.ts';

/**
 * Returns the refusal if one of the decisions needs another person. A denial and an answer need none, because they let
 * nothing run.
 */
export function fourEyesObjection(
  snapshot: Snapshot,
  decisions: readonly ResolvedDecision[],
  { principal }: Decider,
): CommandRefusal | undefined {
  if (!delegators(snapshot).includes(principal)) return undefined;
  for (const { callId, decision } of decisions) {
    const call = callOf(snapshot, callId);
    if (call?.state.type === 'waiting' && (decision === 'approve' || decision === 'edit'))
      return otherPersonNeeded(call, snapshot, principal);
  }
  return undefined;
}

/** Returns the principals who sent messages to the task. */
function delegators({ principal, otherSenders = [] }: Snapshot): readonly string[] {
  return [principal, ...otherSenders];
}

function otherPersonNeeded({ callId, title }: Call, snapshot: Snapshot, principal: string): CommandRefusal {
  const end = snapshot.principal.indexOf('/');
  const others =
    end === -1
      ? `${snapshot.principal} has no tenant, so nobody else can. Deny it, or use a token with a tenant`
      : `Any other principal of the tenant ${snapshot.principal.slice(0, end)} with the role approve can, except ${delegators(snapshot).join(', ')}`;
  return {
    type: 'refuse',
    reason: 'OTHER_APPROVER_REQUIRED',
    message: `Call ${callId} (${visibleLine(title)}) needs the approval of another person: ${principal} sent this task a message, and this server demands four eyes. ${others}. Nothing was decided.`,
    facts: { callId, delegators: delegators(snapshot).join(',') },
  };
}
