/** Why a client withdrew a call, as far as its words say, and what that means for the task. Pure. */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';

/** What a person's stop does to the task: the setting `onCancel`. */
export const ON_CANCEL = ['detach', 'cancel'] as const;
export type OnCancel = (typeof ON_CANCEL)[number];

/**
 * - `person`: somebody pressed stop, and the client says so.
 * - `timeout`: the client's patience ended.
 * - `client-gone`: the connection is no more. Under 2026-07-28 over HTTP that is also how a call is withdrawn.
 * - `unexplained`: withdrawn, and not said why.
 */
export type CauseName = 'person' | 'timeout' | 'client-gone' | 'unexplained';

export interface Cause {
  name: CauseName;
  /** The client's own words, shortened; '' when it gave none. */
  words: string;
}

const MAX_WORDS = 200;

/**
 * Claude Code says `AbortError: user-cancel`, the specification's example is `User requested cancellation`. The SDKs' own
 * time-outs say `Request timed out`, and an abort of a program's `AbortSignal` says no more than that it was aborted.
 */
const TIMEOUT = /\btime[ds]?[ -]?out\b|\bdeadline\b/i;
const PERSON =
  /\b(?:user|person|human)\b.{0,40}\b(?:cancel|abort|interrupt|stop)|\b(?:cancel|abort|interrupt|stop)\w*\b.{0,40}\b(?:user|person|human)\b/i;

/** @param reason what the signal of the call was aborted with */
export function causeOf(reason: unknown): Cause {
  if (reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed)
    return { name: 'client-gone', words: '' };
  // Without a reason from the client, the signal carries the platform's own.
  const words = typeof reason === 'string' ? shortened(reason) : '';
  if (TIMEOUT.test(words)) return { name: 'timeout', words };
  return { name: PERSON.test(words) ? 'person' : 'unexplained', words };
}

/** Only a person's stop may end a task, and only where the setting says so. Whoever goes away or times out detaches (E4). */
export function effectOf({ name }: Cause, setting: OnCancel): OnCancel {
  return name === 'person' ? setting : 'detach';
}

/** In words, to go on a sentence: `the client timed out (…)`. */
export function causeWords({ name, words }: Cause): string {
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

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS)}…` : line;
}
