/** Computes the state of a tool call after a verdict of the policy or a decision of a person. Pure. */
import type { PendingReason } from '../../shared/protocol/tool-approval.ts';
import type { RequestedCall, TaskEvent, PolicyVerdict } from './events.ts';
import type { Call, CallState } from './snapshot.ts';

export function createCall(call: RequestedCall, turn: number, state: CallState): Call {
  return {
    ...call,
    turn,
    state,
    decided: null,
    originalInput: null,
    toolId: null,
    rule: null,
    grantId: null,
    askedBy: null,
  };
}

export function stateAfterVerdict(verdict: PolicyVerdict): CallState {
  switch (verdict.type) {
    case 'ask':
      return { type: 'waiting', reason: 'approval' };
    case 'question':
      return { type: 'waiting', reason: 'question' };
    case 'allow':
      return { type: 'ready' };
    case 'refuse':
      return { type: 'settled', result: { type: 'refused', message: verdict.message } };
  }
}

/** Returns the state of a waiting tool call after a person's decision. @param asked the reason why the call waited */
export function stateAfterDecision(
  { decision, reason, answer, by }: Extract<TaskEvent, { type: 'tool.decided' }>,
  asked: PendingReason,
): CallState {
  if (decision === 'deny')
    return {
      type: 'settled',
      result: { type: asked === 'outcome-unknown' ? 'skipped' : 'denied', reason },
    };
  return answer === undefined
    ? { type: 'ready' }
    : { type: 'settled', result: { type: 'answered', answer, by } };
}
