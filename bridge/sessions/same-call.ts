/**
 * Decides whether a delegating call repeats an earlier call. Pure.
 *
 * A client repeats its call if it got no reply, because it gave up or the bridge was killed. The repeated call has the
 * same arguments and joins the first task (R99). After the client has the reply, the same arguments start a new task.
 * `replies-not-confirmed-by-client.ts` decides when the client has the reply.
 */
import { isDeepStrictEqual } from 'node:util';
import type { OutboxEntry } from '../state/outbox-entry.ts';

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

/**
 * The time in which a client repeats an unanswered call, in milliseconds. After this time, the same arguments are a new
 * request.
 */
const RECENT_MS = 60 * 60_000;

/**
 * Returns true if a delegation was created within the last hour.
 * @param now milliseconds since 1970
 */
export function isRecent({ createdAt }: Pick<OutboxEntry, 'createdAt'>, now: number): boolean {
  return now - Date.parse(createdAt) < RECENT_MS;
}
