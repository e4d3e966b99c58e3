/** Describes the outcome of an action that this page did not decide. Pure. */
import { agoText } from '../age-text.ts';
import { type CallDecision, decidedByText } from '../../../../shared/text/decided-by-text.ts';

export interface SettledCall {
  callId: string;
  state: string;
  /** The decision of the call. `at` is a time as in RFC 3339. */
  decided?: (CallDecision & { at: string }) | undefined;
}

/** @param now milliseconds since 1970 */
export function decidedElsewhereText(found: SettledCall | undefined, now: number): string {
  if (found === undefined) return 'This task has no such action.';
  const { decided, state } = found;
  // When a task ends, the calls that nobody decided get the state `skipped`.
  const why = state === 'skipped' ? 'its task has ended' : `it is ${state}`;
  if (decided === undefined) return `This action no longer waits: ${why}. Nobody decided it.`;
  return `${capitalizedDecidedByText(decided)}, ${agoText(now - Date.parse(decided.at))}.`;
}

/** Returns for example `Approved by ada on the command line`, without a full stop. */
export function capitalizedDecidedByText(decision: CallDecision): string {
  const text = decidedByText(decision);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
