/**
 * What becomes of a task whose model could not answer: where that may pass, it waits and asks again, a bounded number of
 * times. The waiting is in the journal, so that it holds nothing of the task in memory and outlives a restart. Pure.
 */
import type { TaskEvent } from './events.ts';
import type { Snapshot } from './snapshot.ts';

/** What is waited after each failed attempt in a row, in milliseconds; after one more the task fails. */
export const PAUSES_MS: readonly number[] = [2_000, 10_000, 30_000, 120_000, 300_000];

/** A provider that asks for a longer pause is not waited for, in milliseconds. */
export const LONGEST_PAUSE_MS = 900_000;

export interface ModelFailure {
  /** A sentence for a person, with what failed. */
  message: string;
  /** Whether asking again may help. */
  passing: boolean;
  /** How long the provider asked to wait, in milliseconds (RFC 9110 §10.2.3); 0 where it did not. */
  waitMs: number;
}

/** What a failure of the model leads to: a pause, or the end of the task. */
export function afterFailure(snapshot: Snapshot, failure: ModelFailure, now: number): TaskEvent {
  const attempts = (snapshot.outage?.attempts ?? 0) + 1;
  const pauseMs = Math.max(PAUSES_MS[attempts - 1] ?? Infinity, failure.waitMs);
  if (failure.passing && pauseMs <= LONGEST_PAUSE_MS) {
    const until = now + pauseMs;
    const text = `${failure.message} It is asked again at ${new Date(until).toISOString()} (try ${attempts + 1} of ${PAUSES_MS.length + 1}).`;
    return { type: 'model.unavailable', attempts, until, text };
  }
  const hint = failure.passing ? ' Go on with the session to try again.' : '';
  return { type: 'task.failed', message: `The model could not go on: ${failure.message}${hint}` };
}
