/**
 * Decides the next event after a failed model call. If the failure may be temporary, the task waits and tries again.
 * The number of attempts is limited. The journal contains the wait, so the wait continues after a restart. Pure.
 */
import type { TaskEvent } from './events.ts';
import { isTaskSettled, progressNoteOf, type Snapshot } from './snapshot.ts';

/** The pause after each failed attempt in a row. After the last pause, another failure fails the task. */
export const OUTAGE_PAUSES_MS: readonly number[] = [2_000, 10_000, 30_000, 120_000, 300_000];

/** The longest pause that a provider may request. If it requests a longer pause, the task fails. */
export const MAX_REQUESTED_PAUSE_MS = 900_000;

export interface ModelFailure {
  message: string;
  passing: boolean;
  /** The pause that the provider requests (RFC 9110 §10.2.3), in milliseconds. 0 if it requests no pause. */
  waitMs: number;
}

/** Returns the event for a pause, or for the end of the task. @param now in milliseconds since 1970 */
export function eventAfterModelFailure(snapshot: Snapshot, failure: ModelFailure, now: number): TaskEvent {
  const attempts = (snapshot.outage?.attempts ?? 0) + 1;
  const pauseMs = Math.max(OUTAGE_PAUSES_MS[attempts - 1] ?? Infinity, failure.waitMs);
  if (failure.passing && pauseMs <= MAX_REQUESTED_PAUSE_MS) {
    const until = now + pauseMs;
    const text = `${failure.message} The server tries again at ${new Date(until).toISOString()} (attempt ${attempts + 1} of ${OUTAGE_PAUSES_MS.length + 1}).`;
    return { type: 'model.unavailable', attempts, until, text };
  }
  const hint = failure.passing ? ' Send another message in this session to try again.' : '';
  return { type: 'task.failed', message: `The model could not continue: ${failure.message}${hint}` };
}

/**
 * Returns the time of the next attempt, or undefined if the model can be called now. If that time is further away than
 * the longest pause, the clock has gone back since. Then the task does not wait.
 * @param now in milliseconds since 1970
 */
export function nextAttemptTime({ outage }: Pick<Snapshot, 'outage'>, now: number): number | undefined {
  const pauseMs = (outage?.until ?? now) - now;
  return pauseMs > 0 && pauseMs <= MAX_REQUESTED_PAUSE_MS ? outage?.until : undefined;
}

/**
 * The text of a task whose model no running server offers. A server with the model may run, but it then cannot open the
 * workspace.
 */
export function modelNotOfferedText({ settings }: Pick<Snapshot, 'settings'>): string {
  return `The task waits: no running server that can open its workspace offers its model ${JSON.stringify(settings.model)}. Start a server that does both, or cancel the task.`;
}

/**
 * Returns the event with `modelNotOfferedText`. The event names no pause, so the next server that offers the model calls
 * it at once. Returns nothing if the task already says so, waits for a person or has ended.
 * @param now in milliseconds since 1970
 */
export function modelNotOfferedEvents(snapshot: Snapshot, now: number): TaskEvent[] {
  const text = modelNotOfferedText(snapshot);
  if (isTaskSettled(snapshot) || progressNoteOf(snapshot) === text) return [];
  // Clients read from a `model.unavailable` that the task works. So a task that has not begun gets another event.
  return snapshot.status.state === 'submitted'
    ? [{ type: 'task.queued', ahead: 0, text }]
    : [{ type: 'model.unavailable', attempts: snapshot.outage?.attempts ?? 0, until: now, text }];
}
