/**
 * Decides whether a tool call that delegates work repeats an earlier one. Pure.
 *
 * A client repeats its tool call if it received no reply, because its time limit was reached or the bridge was killed.
 * R99: a repeated tool call starts no second task. The bridge recognizes the repetition by the arguments, and the tool
 * call joins the first task. After the client has received the reply, the same arguments start a new task.
 * `replies-not-confirmed-by-client.ts` determines when the client has received the reply.
 */
import { isDeepStrictEqual } from 'node:util';
import type { OutboxEntry } from '../state/outbox-entry.ts';

export type RequestedWork = Pick<
  OutboxEntry,
  'agent' | 'text' | 'settings' | 'command' | 'files' | 'sessionId'
>;

export function isSameUnansweredWork(entry: OutboxEntry, asked: RequestedWork): boolean {
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

/**
 * After this time, in milliseconds, the arguments of an ended task are a new request. Before that, a tool call with the
 * same arguments repeats the earlier one, if its client may have received no reply.
 */
const RECENT_MS = 60 * 60_000;

/**
 * Returns true if the delegation is not older than one hour.
 * @param now the time in milliseconds since 1970
 */
export function isRecentDelegation({ createdAt }: Pick<OutboxEntry, 'createdAt'>, now: number): boolean {
  return now - Date.parse(createdAt) < RECENT_MS;
}
