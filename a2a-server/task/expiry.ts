/**
 * Computes the deadlines of tasks that wait for a person, and ends tasks after their deadline. Pure.
 *
 * - Only a waiting task has a deadline. When the task continues, the deadline ends.
 * - J2: the deadline follows from the journal, because the event with the question contains it. A later change of the
 *   settings does not change it.
 * - J3: an expired task stays ended, even if the clock goes back.
 */
import { cancelTask } from './cancel.ts';
import type { CommandOutcome } from './command-outcome.ts';
import type { Decider, RecordedPendingAction, TaskEvent } from './events.ts';
import { taskStateAfter } from './fold.ts';
import { findSameQuestion } from './pending.ts';
import { PARKED_STATES, type Snapshot, type SnapshotStatus } from './snapshot.ts';

/** The time limits for a person. Null means no limit. */
export interface ExpirySettings {
  /** The time to decide a pending action or to answer a question. */
  decisionMs: number | null;
  /** The time to send the next message if the task waits without a question. */
  idleMs: number | null;
}

/** The `by` of the event `task.canceled`, if the server cancels a task after its deadline. */
export const EXPIRY: Decider = { principal: 'server', channel: 'expiry' };

interface PendingExpiry {
  pending?: readonly RecordedPendingAction[];
  question?: string;
  expiresAt?: string | null;
}

/**
 * Adds deadlines to the events that ask a person. An action that was already pending keeps its deadline. A decision on
 * one of three actions does not extend the deadlines of the other two.
 */
export function withDeadlines(
  snapshot: Snapshot,
  events: readonly TaskEvent[],
  { now, expiry }: { now: number; expiry: ExpirySettings },
): readonly TaskEvent[] {
  if (!events.some(isAskingEvent)) return events;
  const before = snapshot.status.state === 'input-required' ? snapshot.status.pending : [];
  return events.map((event) => {
    if (!isAskingEvent(event)) return event;
    if (event.type === 'auth.required' || event.question !== undefined)
      return { ...event, expiresAt: timeAfter(now, expiry.decisionMs) };
    if (event.pending.length === 0) return { ...event, expiresAt: timeAfter(now, expiry.idleMs) };
    const pending = event.pending.map((action) => ({
      ...action,
      expiresAt: (findSameQuestion(before, action) ?? { expiresAt: timeAfter(now, expiry.decisionMs) })
        .expiresAt,
    }));
    return { ...event, pending };
  });
}

type AskingEvent = Extract<TaskEvent, { type: 'input.required' | 'auth.required' }>;

function isAskingEvent(event: TaskEvent): event is AskingEvent {
  return event.type === 'input.required' || event.type === 'auth.required';
}

/** Returns the earliest deadline, in milliseconds since 1970. Returns null if there is no deadline. */
function deadlineOf({ pending = [], expiresAt }: PendingExpiry): number | null {
  const times = [expiresAt, ...pending.map((action) => action.expiresAt)].flatMap((time) => time ?? []);
  return times.length === 0 ? null : Math.min(...times.map((time) => Date.parse(time)));
}

/**
 * Returns the task's deadline after these events, in milliseconds since 1970. Null means no deadline. Undefined means
 * that the deadline does not change.
 */
export function deadlineAfterEvents(events: readonly TaskEvent[]): number | null | undefined {
  const state = taskStateAfter(events);
  if (state === undefined) return undefined;
  const asking = PARKED_STATES.has(state) && events.findLast(isAskingEvent);
  return asking ? deadlineOf(asking) : null;
}

/** Ends the task if its deadline has passed. @param now in milliseconds since 1970 */
export function cancelExpiredTask(snapshot: Snapshot, now: number): CommandOutcome {
  const { status } = snapshot;
  const asking = askingOf(status);
  const deadline = asking && deadlineOf(asking);
  if (asking === null || deadline === null || now < deadline) return [];
  return cancelTask(snapshot, whyExpired(asking, deadline), EXPIRY);
}

function askingOf(status: SnapshotStatus): PendingExpiry | null {
  return status.state === 'input-required' || status.state === 'auth-required' ? status : null;
}

function whyExpired({ pending = [] }: PendingExpiry, deadline: number): string {
  const time = `${new Date(deadline).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const expired = pending.filter((action) => Date.parse(action.expiresAt ?? '') === deadline);
  if (expired.length === 0) return `No one answered before ${time}.`;
  return `No one decided before ${time}: ${expired.map(({ title }) => title).join('; ')}.`;
}

function timeAfter(now: number, ms: number | null): string | null {
  return ms === null ? null : new Date(now + ms).toISOString();
}
