/** Reads from the client's message why it cancelled a call, and decides the effect on the task. Pure. */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import { collapseWhitespace } from '../../../shared/text/capped-text.ts';

/** The effect on the task when a person stops the call: the setting `onCancel`. */
export const ON_CANCEL = ['detach', 'cancel'] as const;
export type OnCancel = (typeof ON_CANCEL)[number];

/**
 * - `person`: a person stopped the call, and the client says so.
 * - `timeout`: the client timed out.
 * - `client-gone`: the connection is closed. Under 2026-07-28 over HTTP a client also cancels a call this way.
 * - `unexplained`: the client cancelled the call and gave no reason.
 */
type CauseName = 'person' | 'timeout' | 'client-gone' | 'unexplained';

export interface CancelCause {
  name: CauseName;
  /** The client's own words, shortened; '' when it gave none. */
  words: string;
}

const MAX_WORDS = 200;

/**
 * Claude Code says `AbortError: user-cancel`. The specification's example is `User requested cancellation`. The
 * SDKs' own timeouts say `Request timed out`. An abort of a program's `AbortSignal` gives no reason.
 */
const TIMEOUT = /\btime[ds]?[ -]?out\b|\bdeadline\b/i;
const PERSON =
  /\b(?:user|person|human)\b.{0,40}\b(?:cancel|abort|interrupt|stop)|\b(?:cancel|abort|interrupt|stop)\w*\b.{0,40}\b(?:user|person|human)\b/i;

/** @param reason the abort reason of the call's signal */
export function cancelCauseOf(reason: unknown): CancelCause {
  if (reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed)
    return { name: 'client-gone', words: '' };
  // Without a reason from the client, the signal carries the platform's default reason.
  const words = typeof reason === 'string' ? collapseWhitespace(reason, MAX_WORDS) : '';
  if (TIMEOUT.test(words)) return { name: 'timeout', words };
  return { name: PERSON.test(words) ? 'person' : 'unexplained', words };
}

/**
 * Only a person's stop may end a task, and only if the setting says so. A timeout or a lost connection detaches
 * (E4).
 */
export function effectOfCause({ name }: CancelCause, setting: OnCancel): OnCancel {
  return name === 'person' ? setting : 'detach';
}

/** The cause as the second half of a sentence, such as `the client timed out (…)`. */
export function causeWords({ name, words }: CancelCause): string {
  const said = words === '' ? '' : ` ("${words}")`;
  switch (name) {
    case 'person':
      return `the person stopped it${said}`;
    case 'timeout':
      return `the client timed out${said}`;
    case 'client-gone':
      return 'the client closed the connection';
    case 'unexplained':
      return words === '' ? 'the client gave no reason' : `the client withdrew it${said}`;
  }
}
