/**
 * Decides whether a delegating call repeats an earlier one. Pure.
 *
 * A client repeats its call if it got no answer: it gave up, or the bridge was killed. The repeated call has the same
 * words and joins the first task (R99). Once the client has the answer, the same words begin another task.
 * `unconfirmed-answers.ts` decides when the client has the answer.
 */
import { isDeepStrictEqual } from 'node:util';
import type { OutboxEntry } from '../state/outbox-entry.ts';

/** The request of a delegating call. */
export type RequestedWork = Pick<
  OutboxEntry,
  'agent' | 'text' | 'settings' | 'command' | 'files' | 'sessionId'
>;

export function isSameCall(entry: OutboxEntry, asked: RequestedWork): boolean {
  const open = entry.state.type === 'sending' || entry.state.type === 'accepted';
  return (
    open &&
    !entry.answered &&
    entry.cancel === null &&
    entry.agent === asked.agent &&
    entry.text === asked.text &&
    entry.sessionId === asked.sessionId &&
    isDeepStrictEqual(entry.settings, asked.settings) &&
    isDeepStrictEqual(entry.command, asked.command) &&
    isDeepStrictEqual(entry.files, asked.files)
  );
}

/** In milliseconds. A client that gave up repeats its call soon. After this time, the same words are a new request. */
const RECENT_MS = 60 * 60_000;

/** @param now milliseconds since 1970 */
export function isRecent({ createdAt }: Pick<OutboxEntry, 'createdAt'>, now: number): boolean {
  return now - Date.parse(createdAt) < RECENT_MS;
}
