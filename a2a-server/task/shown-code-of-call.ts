/**
 * Computes the `shown` code of a waiting tool call. D2: a decision must contain the code of what the person saw. Pure.
 */
import { shownCode } from '../../shared/protocol/shown-code.ts';
import type { PendingAction, PendingReason } from '../../shared/protocol/tool-approval.ts';
import type { RecordedPendingAction } from './events.ts';
import type { Call } from './snapshot.ts';

/**
 * Returns a code that covers the call id, the input, the content behind the preview, and the reason. If the outcome of
 * a tool execution is unknown, the code also covers this execution. If the person was asked again because the content
 * changed, the code also covers the file or directory that the new preview names (`place`). A repeated question has a
 * new code, so a decision on the earlier question is invalid.
 */
export function shownCodeOf(
  { callId, inputHash, basis, toolId, place }: Call,
  reason: PendingReason,
): string {
  const execution = reason === 'outcome-unknown' ? toolId : null;
  // If there is no place, the code is computed as in old journals.
  return shownCode(callId, inputHash, basis, reason, execution, ...(place === undefined ? [] : [place]));
}

/** Adds the codes that old journals lack. For an unknown tool call the code is empty, so no decision can match it. */
export function withShownCodes(
  recorded: readonly RecordedPendingAction[],
  calls: Readonly<Record<string, Call>>,
): PendingAction[] {
  return recorded.map((action) => ({
    ...action,
    shown: action.shown ?? codeOf(calls[action.callId], action),
  }));
}

function codeOf(call: Call | undefined, { reason }: RecordedPendingAction): string {
  return call === undefined ? '' : shownCodeOf(call, reason);
}
