/**
 * Applies decisions to a task: `(snapshot, decisions) → events | refusal`. Total and pure.
 *
 * - D1: the first valid decision wins. Unknown, late, duplicate and conflicting decisions get a typed refusal.
 * - D3: each tool call has its own decision. The append of a decision also lists the calls that still wait.
 * - E3: a refused command changes nothing. If one decision of a message is invalid, the task refuses all of them.
 */
import type {
  DecisionScope,
  DecisionWord,
  GrantLimits,
  PendingReason,
} from '../../shared/protocol/tool-approval.ts';
import type { PresenceProof } from '../../shared/presence/presence-proof.ts';
import type { Answer } from '../../shared/protocol/question.ts';
import { decidedByText } from '../../shared/text/decided-by-text.ts';
import { taskStateWord } from '../../shared/text/task-state-word.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import { approverRefusal, approverDemandOnDecision, type Approver, type ApproverDemand } from './approver.ts';
import { parseAnswerToCall, decisionMismatch } from './check-answer.ts';
import type { Decider, RequestedCall, TaskEvent } from './events.ts';
import { isFirstQuestion, thenParkOrContinue } from './pending.ts';
import {
  invalidDecisionRefusal,
  taskEndedRefusal,
  type CommandRefusal,
  type CommandOutcome,
} from './command-outcome.ts';
import { presenceRefusal } from './presence.ts';
import { shownCodeOf } from './shown-code-of-call.ts';
import { findCall, isRunByAcpAgent, isTerminal, waitingCalls, type Call, type Snapshot } from './snapshot.ts';

/** One decision. If it is an edit, the new input is valid and has a new preview. */
export interface ResolvedDecision {
  callId: string;
  decision: DecisionWord;
  scope: DecisionScope;
  grant?: GrantLimits | undefined;
  reason: string | null;
  /**
   * The code of the question that the person saw. Null for a reply in plain text. The plain words `approve` and `deny`
   * decide only the task's first question.
   */
  shown: string | null;
  edited: Pick<RequestedCall, 'title' | 'input' | 'inputHash' | 'preview' | 'basis'> | null;
  /** The person's answer, not validated yet. Present only for the decision `answer`. */
  answer?: Answer;
  /**
   * The assertion of the person's passkey. The caller must have checked its signature, and that it was not used before.
   */
  presence?: PresenceProof;
  /** The rule that demands presence for the edited input. */
  editPresenceRule?: string;
  /** Further demands on the approver, from the server and from the rules that match the edited input. */
  approver?: ApproverDemand;
}

/** Returns the events of all decisions. If one decision is invalid, returns only its refusal. */
export function decideCalls(
  snapshot: Snapshot,
  decisions: readonly ResolvedDecision[],
  { by, at }: { by: Decider & Approver; at: number },
): CommandOutcome {
  const events: TaskEvent[] = [];
  for (const decision of decisions) {
    const refusal = refusalOfDecision(snapshot, decision, by) ?? decidedTwiceRefusal(decisions, decision);
    if (refusal) return refusal;
    const call = findCall(snapshot, decision.callId);
    if (call === undefined) continue;
    const read = decision.decision === 'answer' ? parseAnswerToCall(call, decision.answer) : undefined;
    if (read?.ok === false) return invalidDecisionRefusal(read.message);
    const approver = approverDemandOnDecision(call, decision);
    const event: TaskEvent = {
      type: 'tool.decided',
      callId: call.callId,
      tool: call.tool,
      title: decision.edited?.title ?? call.title,
      decision: decision.decision,
      scope: decision.scope,
      // The journal records the name and the channel, not the roles and the groups.
      by: { principal: by.principal, channel: by.channel },
      inputHash: call.inputHash,
      reason: decision.reason,
      ...(decision.grant && { grant: decision.grant }),
      ...(read && { answer: read.answer }),
      edited: decision.edited,
      ...(decision.presence && { presence: decision.presence }),
      ...(approver && { approver }),
    };
    events.push(event);
  }
  return thenParkOrContinue(snapshot, events, at);
}

/**
 * Repeats the question about a waiting tool call whose files have changed. Returns no events if another
 * command has already changed the call.
 */
export function askAgain(
  snapshot: Snapshot,
  shown: Call,
  event: Extract<TaskEvent, { type: 'tool.outdated' }>,
): readonly TaskEvent[] {
  const call = findCall(snapshot, shown.callId);
  if (isTerminal(snapshot) || call?.state.type !== 'waiting') return [];
  if (call.basis !== shown.basis || call.place !== shown.place) return [];
  return thenParkOrContinue(snapshot, [event]);
}

/** Returns the refusal if the message has another decision on the same call. */
export function decidedTwiceRefusal(
  decisions: readonly { callId: string }[],
  decision: { callId: string },
): CommandRefusal | undefined {
  if (decisions.filter((other) => other.callId === decision.callId).length < 2) return undefined;
  return invalidDecisionRefusal(
    `Call ${decision.callId} is decided twice in one message; send one decision for each call.`,
  );
}

/** Returns the refusal of an invalid decision. Returns undefined for a valid decision. */
function refusalOfDecision(
  snapshot: Snapshot,
  decision: ResolvedDecision,
  by: Approver,
): CommandRefusal | undefined {
  const call = findCall(snapshot, decision.callId);
  if (call === undefined) return unknownCall(snapshot, decision.callId);
  if (call.decided) return alreadyDecided(call, call.decided);
  if (isTerminal(snapshot)) return taskEndedRefusal(snapshot);
  if (call.state.type === 'settled' && call.state.result.type === 'withdrawn')
    return {
      type: 'refuse',
      reason: 'ALREADY_DECIDED',
      message: `Question ${call.callId} (${visibleLine(call.title)}) no longer waits: the tool that asked it has ended. Nothing was changed.`,
      facts: { callId: call.callId },
    };
  if (call.state.type !== 'waiting')
    return {
      type: 'refuse',
      reason: 'ALREADY_DECIDED',
      message: `Call ${call.callId} (${visibleLine(call.title)}) needs no decision: the policy allowed it. Nothing was changed.`,
      facts: { callId: call.callId },
    };
  const { shown } = decision;
  // An answer without a code always belongs to the pending question. A decision without a code may belong to an earlier
  // question.
  const plain = decision.decision === 'answer' || isFirstQuestion(snapshot, call);
  if (shown === null ? !plain : shown !== shownCodeOf(call, call.state.reason))
    return outdatedQuestionRefusal(call, call.state.reason);
  const mismatch = decisionMismatch(call, call.state.reason, decision);
  if (mismatch !== undefined) return invalidDecisionRefusal(mismatch);
  if (decision.decision === 'deny' && decision.scope !== 'once')
    return invalidDecisionRefusal('A denial applies to one call only. Use scope "once", or omit it.');
  if (decision.scope === 'server' && call.source.type === 'built-in')
    return invalidDecisionRefusal(
      `${call.tool} is a built-in tool and belongs to no server. Use the scope "tool", "always" or "once".`,
    );
  if (decision.decision === 'edit' && isRunByAcpAgent(call))
    return invalidDecisionRefusal(
      `The agent runs call ${call.callId} itself, so you cannot edit its input. Approve it, or deny it and say in the reason what you want instead.`,
    );
  if (decision.decision === 'edit' && call.state.reason === 'outcome-unknown')
    return invalidDecisionRefusal(
      `The outcome of call ${call.callId} is unknown, so you cannot edit it. "approve" runs it again, "deny" skips it.`,
    );
  if ((decision.decision === 'edit') !== (decision.edited !== null))
    return invalidDecisionRefusal('Send the new input with "edit", and only with "edit".');
  return (
    approverRefusal(snapshot, { call, decision }, by) ??
    presenceRefusal(snapshot, { ...call, state: call.state }, decision)
  );
}

/** Returns the refusal of a decision on an old question. The client must read the new question and its new code. */
export function outdatedQuestionRefusal({ callId, title }: Call, reason: PendingReason): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'INPUT_CHANGED',
    message: `Call ${callId} (${visibleLine(title)}) is not what was shown.${ASKED_AGAIN[reason]} Nothing was decided. Show the current pending action, and decide with its code.`,
    facts: { callId, reason },
  };
}

const ASKED_AGAIN: Readonly<Record<PendingReason, string>> = {
  approval: '',
  'outcome-unknown': ' It started before, and its outcome was lost: an approval would run it again.',
  'content-changed': ' Its content or its place is now different.',
  question: '',
};

function alreadyDecided(call: Call, { decision, by, at }: NonNullable<Call['decided']>): CommandRefusal {
  const { principal, channel } = by;
  const decidedAt = new Date(at).toISOString();
  return {
    type: 'refuse',
    reason: 'ALREADY_DECIDED',
    message: `Call ${call.callId} (${visibleLine(call.title)}) was decided before: ${decidedByText({ decision, by: principal, channel })} at ${decidedAt}. That decision stands.`,
    facts: { callId: call.callId, firstDecision: decision, decidedBy: principal, channel, decidedAt },
  };
}

function unknownCall(snapshot: Snapshot, callId: string): CommandRefusal {
  // After the end of the task, no tool call waits for a decision, even if its state is still `waiting`.
  const pending = isTerminal(snapshot) ? [] : waitingCalls(snapshot).map((call) => call.callId);
  const others = pending.length > 0 ? `Pending: ${pending.join(', ')}.` : 'No call waits for a decision.';
  const end = isTerminal(snapshot) ? ` The task has ended (${taskStateWord(snapshot.status.state)}).` : '';
  return {
    type: 'refuse',
    reason: 'UNKNOWN_CALL',
    message: `Task ${snapshot.taskId} has no call ${callId}.${end} ${others}`,
    facts: { callId, pending: pending.join(', ') },
  };
}
