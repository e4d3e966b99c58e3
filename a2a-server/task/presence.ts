/**
 * Decides whether a decision needs the assertion of a passkey, and whether the assertion belongs to the decision. A
 * rule can demand presence for the tool call, or for the input of an edit. A denial never needs an assertion. Pure.
 */
import { provesDecision, type DecisionStatement } from '../../shared/presence/presence-proof.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import { invalidDecisionRefusal, type CommandRefusal } from './command-outcome.ts';
import type { ResolvedDecision } from './decide.ts';
import { shownCodeOf } from './shown-code-of-call.ts';
import type { Snapshot, WaitingCall } from './snapshot.ts';

/** Checks the assertion of a decision. @returns the refusal of a decision without a valid assertion, or undefined */
export function presenceRefusal(
  snapshot: Snapshot,
  call: WaitingCall,
  decision: ResolvedDecision,
): CommandRefusal | undefined {
  const { presence } = decision;
  const statement = decisionStatement(snapshot, call, decision);
  if (statement === undefined)
    return (
      presence && invalidDecisionRefusal('Only an approval or an edit takes the assertion of a passkey.')
    );
  const rule = demandingRule(call, decision);
  if (rule === undefined && presence === undefined) return undefined;
  if (presence === undefined) return presenceRequired(call, rule ?? '');
  if (!provesDecision(presence, statement)) return assertionOfOther(call);
  if (decision.scope !== 'once')
    return invalidDecisionRefusal('A passkey approves one call only. Use scope "once", or omit it.');
  return undefined;
}

/** Returns what the person signs. Returns undefined for a denial and an answer, which need no assertion. */
export function decisionStatement(
  { taskId }: Pick<Snapshot, 'taskId'>,
  call: WaitingCall,
  { decision, edited, reason }: Pick<ResolvedDecision, 'decision' | 'edited' | 'reason'>,
): DecisionStatement | undefined {
  if (decision !== 'approve' && decision !== 'edit') return undefined;
  const { callId, tool, inputHash, basis } = call;
  return {
    taskId,
    callId,
    tool,
    shown: shownCodeOf(call, call.state.reason),
    asked: call.state.reason,
    inputHash,
    basis,
    decision,
    edited: edited && { inputHash: edited.inputHash, basis: edited.basis },
    reason,
  };
}

function demandingRule(call: WaitingCall, { editPresenceRule }: ResolvedDecision): string | undefined {
  return call.presence === true ? (call.rule ?? '') : editPresenceRule;
}

function presenceRequired({ callId, title }: WaitingCall, rule: string): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'PRESENCE_REQUIRED',
    message: `Call ${callId} (${visibleLine(title)}) needs a person's passkey: ${rule} demands presence. Nothing was decided. Only the approval page can use a passkey, so only the person can approve this, and not over this channel.`,
    facts: { callId },
  };
}

function assertionOfOther({ callId }: WaitingCall): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'INPUT_CHANGED',
    message: `The assertion of the passkey belongs to another decision, not to this one on call ${callId}. Nothing was decided. Read the current action, and use the passkey again.`,
    facts: { callId },
  };
}
