/**
 * How long a parked task waits, and what becomes of it when nobody comes (R14). Pure: absolute times in, events out.
 *
 * - An active task never expires: only what asks has a deadline, and it is gone as soon as the task moves.
 * - A deadline is written with the asking and follows from the events alone (J2): what was promised once holds, whatever
 *   the server is told at its next start, and a clock that goes back opens nothing again (J3).
 */
import { cancel } from './commands.ts';
import type { Decider, RecordedAction, TaskEvent } from './events.ts';
import { stateOf } from './fold.ts';
import { sameAsking } from './pending.ts';
import { PARKED_STATES, type Snapshot, type Status } from './snapshot.ts';

/** In milliseconds; null: for as long as it takes. */
export interface Patience {
  /** How long a person is waited for: a pending action for its decision, a question for its answer. */
  decisionMs: number | null;
  /** How long a task waits for the next message that asks for nothing. */
  idleMs: number | null;
}

export const ENDLESS_PATIENCE: Patience = { decisionMs: null, idleMs: null };

/** Who ends a task that nobody came to. */
export const EXPIRY: Decider = { principal: 'server', channel: 'expiry' };

/** What a task asks for. */
interface Asking {
  pending?: readonly RecordedAction[];
  question?: string;
  expiresAt?: string | null;
}

/**
 * The events with the time put on what they ask for. An action that waited before keeps the time it was given: to decide
 * one of three gives the other two no new one.
 */
export function dated(
  snapshot: Snapshot,
  events: readonly TaskEvent[],
  { now, patience }: { now: number; patience: Patience },
): readonly TaskEvent[] {
  if (!events.some(asks)) return events;
  const before = snapshot.status.state === 'input-required' ? snapshot.status.pending : [];
  return events.map((event) => {
    if (!asks(event)) return event;
    if (event.type === 'auth.required' || event.question !== undefined)
      return { ...event, expiresAt: after(now, patience.decisionMs) };
    if (event.pending.length === 0) return { ...event, expiresAt: after(now, patience.idleMs) };
    const pending = event.pending.map((action) => ({
      ...action,
      expiresAt: (sameAsking(before, action) ?? { expiresAt: after(now, patience.decisionMs) }).expiresAt,
    }));
    return { ...event, pending };
  });
}

type AskingEvent = Extract<TaskEvent, { type: 'input.required' | 'auth.required' }>;

function asks(event: TaskEvent): event is AskingEvent {
  return event.type === 'input.required' || event.type === 'auth.required';
}

/** When the first of what is asked for expires, in milliseconds since the epoch. */
export function deadlineOf({ pending = [], expiresAt }: Asking): number | null {
  const times = [expiresAt, ...pending.map((action) => action.expiresAt)].flatMap((time) => time ?? []);
  return times.length === 0 ? null : Math.min(...times.map((time) => Date.parse(time)));
}

/** The deadline these events give a task: null for none, undefined when they leave it as it was. */
export function deadlineAfter(events: readonly TaskEvent[]): number | null | undefined {
  const state = stateOf(events);
  if (state === undefined) return undefined;
  const asking = PARKED_STATES.has(state) && events.findLast(asks);
  return asking ? deadlineOf(asking) : null;
}

/** Ends the task if it is parked and its deadline has passed. */
export function expire(
  snapshot: Snapshot,
  now: number,
): { type: 'append'; events: TaskEvent[] } | { type: 'keep' } {
  const { status } = snapshot;
  const asking = askingOf(status);
  const deadline = asking && deadlineOf(asking);
  if (asking === null || deadline === null || now < deadline) return { type: 'keep' };
  const ruling = cancel(snapshot, whyExpired(asking, deadline), EXPIRY);
  return ruling.type === 'append' ? ruling : { type: 'keep' };
}

function askingOf(status: Status): Asking | null {
  return status.state === 'input-required' || status.state === 'auth-required' ? status : null;
}

function whyExpired({ pending = [] }: Asking, deadline: number): string {
  const time = new Date(deadline).toISOString();
  const expired = pending.filter((action) => Date.parse(action.expiresAt ?? '') === deadline);
  if (expired.length === 0) return `Nobody answered by ${time}.`;
  return `Nobody decided by ${time}: ${expired.map(({ title }) => title).join('; ')}.`;
}

function after(now: number, ms: number | null): string | null {
  return ms === null ? null : new Date(now + ms).toISOString();
}
