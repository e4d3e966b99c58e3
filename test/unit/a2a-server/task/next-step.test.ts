import { describe, expect, it } from '@jest/globals';
import type { TaskEvent, TurnEnd } from '../../../../a2a-server/task/events.ts';
import { firstSnapshot, fold } from '../../../../a2a-server/task/fold.ts';
import { nextStep, restartEvents } from '../../../../a2a-server/task/next-step.ts';

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

describe('a turn that ends with a question', () => {
  it.each(['Which?', null])('%j asks the person', (question) => {
    const start = firstSnapshot('t', {
      seq: 1,
      at: 1,
      event: { type: 'task.created', sessionId: 's', principal: 'p', settings: {} },
    });
    if (start === undefined) throw new Error('no task');
    const events: TaskEvent[] = [
      { type: 'task.working' },
      { type: 'turn.started', turn: 1, model: 'm' },
      {
        type: 'turn.finished',
        turn: 1,
        end: { type: 'input-required', question },
        usage: { inputTokens: 1, outputTokens: 1 },
      },
    ];
    const asked = events.reduce((s, event) => fold(s, { seq: s.seq + 1, at: 1, event }), start);
    expect(nextStep(asked)).toEqual({
      type: 'append',
      events: [{ type: 'input.required', pending: [], ...(question !== null && { question }) }],
    });
  });
});

describe('restartEvents', () => {
  const events: TaskEvent[] = [
    { type: 'task.working' },
    { type: 'turn.started', turn: 1, model: 'm' },
    { type: 'task.completed' },
  ];
  const after = (count: number) => {
    const start = firstSnapshot('t', {
      seq: 1,
      at: 1,
      event: { type: 'task.created', sessionId: 's', principal: 'p', settings: {} },
    });
    if (start === undefined) throw new Error('no task');
    return restartEvents(
      events.slice(0, count).reduce((s, event) => fold(s, { seq: s.seq + 1, at: 1, event }), start),
    );
  };

  it('record an open turn, or that the task works again, and are empty for a task that does not work', () => {
    expect(after(0)).toEqual([]);
    expect(after(1)).toEqual([{ type: 'task.working' }]);
    expect(after(2)).toMatchObject([{ type: 'turn.abandoned', turn: 1 }]);
    expect(after(3)).toEqual([]);
  });
});
