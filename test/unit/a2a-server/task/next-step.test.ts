import { describe, expect, it } from '@jest/globals';
import { NO_BUDGET } from '../../../../a2a-server/task/budget.ts';
import type { TaskEvent, TurnEnd } from '../../../../a2a-server/task/events.ts';
import { nextStep, restartEvents } from '../../../../a2a-server/task/next-step.ts';
import { taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
import { request } from '../../../support/task-machine.ts';

const working: TaskEvent = { type: 'task.working' };
const reads = (callId: string) => ({ call: request(callId, true), ask: false });
const writes = (callId: string) => ({ call: request(callId, false), ask: false });

describe('nextStep, if the model requests no more calls', () => {
  it.each<[TurnEnd, string]>([
    ['stop', 'task.completed'],
    ['tool-calls', 'task.completed'],
    ['content-filter', 'task.failed'],
  ])('after a turn that ended with %s, the next step is %s', (end, type) => {
    expect(nextStep(taskAfter(working, ...turnEventsWith([], { end })))).toMatchObject({
      type: 'append',
      events: [{ type }],
    });
  });
});

describe('a turn that ends with a question', () => {
  it.each(['Which?', null])('%j asks the person', (question) => {
    const asked = taskAfter(working, ...turnEventsWith([], { end: { type: 'input-required', question } }));
    expect(nextStep(asked)).toEqual({
      type: 'append',
      events: [{ type: 'input.required', pending: [], ...(question !== null && { question }) }],
    });
  });
});

describe('nextStep for the calls of a turn', () => {
  it.each([
    ['adjacent read-only calls run side by side', [reads('a'), reads('b'), writes('c')], ['a', 'b']],
    ['all read-only calls run side by side', [reads('a'), reads('b')], ['a', 'b']],
    ['a call with side effects runs alone', [writes('a'), writes('b')], ['a']],
    ['a call with side effects runs before a later read-only call', [writes('a'), reads('b')], ['a']],
  ])('%s', (_, calls, expected) => {
    const step = nextStep(taskAfter(working, ...turnEventsWith(calls)));
    expect(step.type === 'run' && step.calls.map(({ callId }) => callId)).toEqual(expected);
  });
});

describe('a task with a spent budget', () => {
  it('the task asks whether to continue, and marks the question as a question about the budget', () => {
    const limits = { budget: { ...NO_BUDGET, turns: 1 }, now: 1 };
    expect(nextStep(taskAfter(working, ...turnEventsWith([], { end: 'length' })), limits)).toEqual({
      type: 'append',
      events: [{ type: 'input.required', pending: [], question: expect.any(String), budget: true }],
    });
  });
});

describe('restartEvents, the events at a server’s restart', () => {
  const events: TaskEvent[] = [
    working,
    { type: 'turn.started', turn: 1, model: 'm' },
    { type: 'task.completed' },
  ];
  const after = (count: number) => restartEvents(taskAfter(...events.slice(0, count)));

  it('the events record a turn that had not ended, or that the task works again; a task that does not work has none', () => {
    expect(after(0)).toEqual([]);
    expect(after(1)).toEqual([working]);
    expect(after(2)).toMatchObject([{ type: 'turn.abandoned', turn: 1 }]);
    expect(after(3)).toEqual([]);
  });
});
