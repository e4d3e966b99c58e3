/** Determines why a client cancelled a call, and the effect on the task. Pure. */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import { collapseWhitespace } from '../../../shared/text/capped-text.ts';

/** The values of the setting `onCancel`: what happens to the task if a person stops the call. */
export const ON_CANCEL = ['detach', 'cancel'] as const;
export type OnCancel = (typeof ON_CANCEL)[number];

/**
 * - `person`: a person stopped the call, as the client reports.
 * - `timeout`: the client timed out.
 * - `client-gone`: the connection is closed. Under MCP 2026-07-28 over HTTP, a client also cancels a call in this way.
 * - `unexplained`: the client cancelled the call and gave no reason.
 */
type CauseName = 'person' | 'timeout' | 'client-gone' | 'unexplained';

export interface CancelCause {
  name: CauseName;
  /** The client's reason, shortened; '' if the client gave none. */
  words: string;
}

const MAX_WORDS = 200;

/**
 * Claude Code sends `AbortError: user-cancel`. The specification's example is `User requested cancellation`. The SDKs'
 * timeouts send `Request timed out`. An abort of a program's `AbortSignal` gives no reason.
 */
const TIMEOUT = /\btime[ds]?[ -]?out\b|\bdeadline\b/i;
const PERSON =
  /\b(?:user|person|human)\b.{0,40}\b(?:cancel|abort|interrupt|stop)|\b(?:cancel|abort|interrupt|stop)\w*\b.{0,40}\b(?:user|person|human)\b/i;

/**
 * Determines why a client cancelled its call.
 * @param reason the abort reason of the call's signal
 */
export function cancelCauseOf(reason: unknown): CancelCause {
  if (reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed)
    return { name: 'client-gone', words: '' };
  // If the client sends no reason, the signal has the platform's default reason, which is no string.
  const words = typeof reason === 'string' ? collapseWhitespace(reason, MAX_WORDS) : '';
  if (TIMEOUT.test(words)) return { name: 'timeout', words };
  return { name: PERSON.test(words) ? 'person' : 'unexplained', words };
}

/**
 * A task ends only if a person stopped the call and the setting allows it. After a timeout or a lost connection, the
 * task continues (E4).
 */
export function effectOfCause({ name }: CancelCause, setting: OnCancel): OnCancel {
  return name === 'person' ? setting : 'detach';
}

/** Returns the cause as part of a sentence, such as `the client timed out (…)`. */
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
