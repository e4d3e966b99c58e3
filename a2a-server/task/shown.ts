/** Computes the code of a waiting call. Each decision must carry it (D2, E2). Pure. */
import { shownCode } from '../../shared/protocol/shown-code.ts';
import type { PendingAction, PendingReason } from '../../shared/protocol/tool-approval.ts';
import type { RecordedAction } from './events.ts';
import type { Call } from './snapshot.ts';

/**
 * The code covers the call id, the input, the content behind the preview, and the reason. So a call that is asked again has
 * a new code, and a decision on the earlier question does not decide it.
 */
export function shownOf({ callId, inputHash, basis, toolId }: Call, reason: PendingReason): string {
  return shownCode(callId, inputHash, basis, reason, reason === 'outcome-unknown' ? toolId : null);
}

/** Adds the codes that old journals lack. If the call is unknown, the code is empty, and no decision can carry it. */
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
