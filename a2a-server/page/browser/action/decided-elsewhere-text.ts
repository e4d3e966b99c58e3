/** Describes the outcome of an action that this page did not decide. Pure. */
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { agoText } from '../age-text.ts';
import { channelText } from '../channel-text.ts';

export interface CallDecision {
  decision: string;
  by: string;
  channel: string;
}

export interface SettledCall {
  callId: string;
  state: string;
  /** The decision of the call. `at` is a time as in RFC 3339. */
  decided?: (CallDecision & { at: string }) | undefined;
}

const DECIDED: Readonly<Record<string, string>> = {
  approve: 'Approved',
  deny: 'Denied',
  edit: 'Edited and approved',
  answer: 'Answered',
};

/** @param now milliseconds since 1970 */
export function decidedElsewhereText(found: SettledCall | undefined, now: number): string {
  if (found === undefined) return 'This task has no such action.';
  const { decided, state } = found;
  // A call that nobody decided keeps the state `waiting` after its task was cancelled.
  const why = state === 'waiting' ? 'its task has ended' : `it is ${state}`;
  if (decided === undefined) return `This action no longer waits: ${why}. Nobody decided it.`;
  return `${decidedByText(decided)}, ${agoText(now - Date.parse(decided.at))}.`;
}

/** Names the decision, the person and the channel, without a full stop. */
export function decidedByText({ decision, by, channel }: CallDecision): string {
  return `${DECIDED[decision] ?? decision} by ${visibleLine(by, 100)} ${channelText(channel)}`;
}
