import { describe, expect, it } from '@jest/globals';
import type { TurnEnd } from '../../../../a2a-server/task/events.ts';
import { firstSnapshot, fold } from '../../../../a2a-server/task/fold.ts';
import { nextStep } from '../../../../a2a-server/task/next-step.ts';

describe('nextStep, when the model requests no more calls', () => {
  it.each<[TurnEnd, string]>([
    ['stop', 'task.completed'],
    ['tool-calls', 'task.completed'],
    ['content-filter', 'task.failed'],
  ])('a turn that ended with %s is followed by %s', (end, type) => {
    const start = firstSnapshot('t', {
      seq: 1,
      at: 1,
      event: { type: 'task.created', sessionId: 's', principal: 'p', settings: {} },
    });
    if (start === undefined) throw new Error('no task');
    const turn = { turn: 1, model: 'm' };
    const done = [
      { type: 'task.working' as const },
      { type: 'turn.started' as const, ...turn },
      { type: 'turn.finished' as const, turn: 1, end, usage: { inputTokens: 1, outputTokens: 1 } },
    ].reduce((s, event) => fold(s, { seq: s.seq + 1, at: 1, event }), start);
    expect(nextStep(done)).toMatchObject({ type: 'append', events: [{ type }] });
  });
});
