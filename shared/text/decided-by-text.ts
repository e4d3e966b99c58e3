/** Says who decided a call, and how. Pure. */
import { channelText } from './channel-text.ts';
import { visibleLine } from './visible-text.ts';

export interface CallDecision {
  decision: string;
  by: string;
  channel: string;
}

const DECIDED: Readonly<Record<string, string>> = {
  approve: 'approved',
  deny: 'denied',
  edit: 'edited and approved',
  answer: 'answered',
};
/** The name of the user whose token the server creates at its first start. */
export const LOCAL_USER = 'local';
const MAX_NAME_CHARACTERS = 100;

/** Returns for example `approved by ada on the command line`, without a full stop. */
export function decidedByText({ decision, by, channel }: CallDecision): string {
  const word = Object.hasOwn(DECIDED, decision) ? (DECIDED[decision] ?? '') : visibleLine(decision);
  return `${word} ${byText({ by, channel })}`;
}

/**
 * Returns for example `by ada on the command line`. The name `local` means nothing to a person, so the text says `the
 * local user` instead.
 */
export function byText({ by, channel }: Pick<CallDecision, 'by' | 'channel'>): string {
  const who = by === LOCAL_USER ? 'the local user' : visibleLine(by, MAX_NAME_CHARACTERS);
  return `by ${who} ${channelText(channel)}`;
}
