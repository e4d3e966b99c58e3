import { describe, expect, it } from '@jest/globals';
import { NO_BUDGET } from '../../../../a2a-server/task/budget.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import {
  eventAfterModelFailure,
  MAX_REQUESTED_PAUSE_MS,
  OUTAGE_PAUSES_MS,
} from '../../../../a2a-server/task/model-outage.ts';
import { nextStep } from '../../../../a2a-server/task/next-step.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { created, message, working } from '../../../support/journal-samples.ts';
import { foldedTask } from '../../../support/folded-task.ts';

const NOW = 1_000_000;
const BUSY = { message: 'It is busy.', passing: true, waitMs: 0 };

const task = (...events: TaskEvent[]): Snapshot =>
  foldedTask([created('s'), message('do it'), working, ...events]);

/** Returns the events of a turn that broke off. */
function cutOff(turn: number, attempts: number): TaskEvent[] {
  return [
    { type: 'turn.started', turn, model: 'm' },
    { type: 'text.delta', turn, text: 'half' },
    { type: 'turn.abandoned', turn, reason: 'busy' },
    { type: 'model.unavailable', attempts, until: NOW, text: 'later' },
  ];
}

describe('a model that is unavailable', () => {
  it('the task requests the model again after longer and longer pauses, a limited number of times, and then fails', () => {
    const pauses: number[] = [];
    const events: TaskEvent[] = [];
    for (;;) {
      const next = eventAfterModelFailure(task(...events), BUSY, NOW);
      if (next.type !== 'model.unavailable') {
        expect(next).toEqual({
          type: 'task.failed',
          message:
            'The model could not continue: It is busy. Send another message in this session to try again.',
        });
        break;
      }
      pauses.push(next.until - NOW);
      events.push(...cutOff(pauses.length, next.attempts));
    }
    expect(pauses).toEqual(OUTAGE_PAUSES_MS);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  });

  it('the model gets the pause that it requests, up to a limit', () => {
    expect(eventAfterModelFailure(task(), { ...BUSY, waitMs: 60_000 }, NOW)).toMatchObject({
      until: NOW + 60_000,
    });
    expect(eventAfterModelFailure(task(), { ...BUSY, waitMs: 10 }, NOW)).toMatchObject({
      until: NOW + (OUTAGE_PAUSES_MS[0] ?? 0),
    });
    expect(eventAfterModelFailure(task(), { ...BUSY, waitMs: MAX_REQUESTED_PAUSE_MS + 1 }, NOW).type).toBe(
      'task.failed',
    );
  });

  it('the task does not request the model again if a retry cannot help', () => {
    expect(eventAfterModelFailure(task(), { ...BUSY, passing: false }, NOW)).toEqual({
      type: 'task.failed',
      message: 'The model could not continue: It is busy.',
    });
  });

  it('the task requests the model again at the stored time, discards the output so far, and the status has the reason', () => {
    const waiting = task(...cutOff(1, 1));
    expect(waiting.openTurn).toBeNull();
    expect(waiting.status).toEqual({ state: 'working', note: 'later' });
    const at = (now: number) => nextStep(waiting, { budget: NO_BUDGET, now });
    expect(at(NOW - 1)).toEqual({ type: 'wait', until: NOW });
    expect(at(NOW)).toEqual({ type: 'ask-model' });
  });

  it('R103 if the clock has gone back by more than the longest pause, the task requests the model at once', () => {
    const waiting = task(...cutOff(1, 1));
    const at = (now: number) => nextStep(waiting, { budget: NO_BUDGET, now });
    expect(at(NOW - MAX_REQUESTED_PAUSE_MS)).toEqual({ type: 'wait', until: NOW });
    expect(at(NOW - MAX_REQUESTED_PAUSE_MS - 1)).toEqual({ type: 'ask-model' });
  });

  it('after an answer, the number of attempts begins at zero again', () => {
    const answered: TaskEvent[] = [
      { type: 'turn.started', turn: 3, model: 'm' },
      { type: 'turn.finished', turn: 3, end: 'stop', usage: { inputTokens: 1, outputTokens: 1 } },
    ];
    const later = task(...cutOff(1, 4), ...cutOff(2, 5), ...answered);
    expect(later.outage).toBeNull();
    expect(eventAfterModelFailure(later, BUSY, NOW)).toMatchObject({ attempts: 1 });
  });
});
