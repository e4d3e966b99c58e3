/** Where calls come to stand: as policy has it, as a person decides, and when the tool that asked has ended. Pure. */
import type { PendingReason } from '../../shared/protocol/tool-approval.ts';
import type { RequestedCall, TaskEvent, Verdict } from './events.ts';
import type { Call, CallState } from './snapshot.ts';

/** A call as the model, or a tool with a question, has just asked for it. */
export function requested(call: RequestedCall, turn: number, state: CallState): Call {
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

/** Where policy's verdict puts a call. */
export function stateUnder(verdict: Verdict): CallState {
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

/** Where a person's decision puts a call. @param asked what the call was waiting for */
export function stateAfter(
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
