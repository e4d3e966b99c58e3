/** The code of a waiting call: a decision has to carry it (D2, E2). Pure. */
import { shownCode } from '../../shared/protocol/shown-code.ts';
import type { PendingAction, PendingReason } from '../../shared/protocol/tool-approval.ts';
import type { RecordedAction } from './events.ts';
import type { Call } from './snapshot.ts';

/**
 * Covers the call, its input, the content its preview was made from and the reason it waits for. A call that is asked
 * again thus has another code, and the decision on the earlier question does not decide it.
 */
export function shownOf({ callId, inputHash, basis, toolId }: Call, reason: PendingReason): string {
  return shownCode(callId, inputHash, basis, reason, reason === 'outcome-unknown' ? toolId : null);
}

/** Fills in the codes that an older journal lacks. An action of an unknown call gets a code that no decision carries. */
export function withCodes(
  recorded: readonly RecordedAction[],
  calls: Readonly<Record<string, Call>>,
): PendingAction[] {
  return recorded.map((action) => ({
    ...action,
    shown: action.shown ?? codeOf(calls[action.callId], action),
  }));
}

function codeOf(call: Call | undefined, { reason }: RecordedAction): string {
  return call === undefined ? '' : shownOf(call, reason);
}
