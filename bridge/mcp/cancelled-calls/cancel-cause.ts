/** Determines why a client cancelled a tool call, and what this means for the task. Pure. */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import { collapsedLine } from '../../../shared/text/shortened-text.ts';
import type { OnCancel } from '../../settings/on-cancel.ts';

/**
 * Why a tool call was cancelled.
 *
 * - `person`: a person stopped the tool call, as the client reports.
 * - `timeout`: the client's time limit was reached.
 * - `client-gone`: the connection is closed. In MCP 2026-07-28 over HTTP, a client also cancels a tool call in this
 *   way.
 * - `unexplained`: the client cancelled the tool call without a reason.
 */
type CauseName = 'person' | 'timeout' | 'client-gone' | 'unexplained';

export interface CancelCause {
  name: CauseName;
  /** The client's reason, shortened. '' if the client gave none. */
  words: string;
}

const MAX_REASON_CHARACTERS = 200;

/**
 * Match a client's reason. Claude Code sends `AbortError: user-cancel`. The example in the MCP specification is `User
 * requested cancellation`. The timeouts of the SDKs send `Request timed out`. If a program aborts its `AbortSignal`,
 * there is no reason.
 */
const TIMEOUT = /\btime[ds]?[ -]?out\b|\bdeadline\b/i;
const PERSON =
  /\b(?:user|person|human)\b.{0,40}\b(?:cancel|abort|interrupt|stop)|\b(?:cancel|abort|interrupt|stop)\w*\b.{0,40}\b(?:user|person|human)\b/i;

/** @param reason the abort reason of the tool call's signal */
export function cancelCauseOf(reason: unknown): CancelCause {
  if (reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed)
    return { name: 'client-gone', words: '' };
  // If the client sends no reason, the abort reason is the platform's default, which is not a string.
  const words = typeof reason === 'string' ? collapsedLine(reason, MAX_REASON_CHARACTERS) : '';
  if (TIMEOUT.test(words)) return { name: 'timeout', words };
  return { name: PERSON.test(words) ? 'person' : 'unexplained', words };
}

/**
 * Returns what happens to the task. It is cancelled only if a person stopped the tool call and the setting says so. E4:
 * a lost connection stops no task. So after a timeout or a disconnect, the task continues.
 */
export function effectOfCancelCause({ name }: CancelCause, setting: OnCancel): OnCancel {
  return name === 'person' ? setting : 'detach';
}

/** Returns the cause as a part of a sentence, such as `the client timed out (…)`. */
export function cancelCauseText({ name, words }: CancelCause): string {
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
