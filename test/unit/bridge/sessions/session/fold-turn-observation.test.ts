import { describe, expect, test } from '@jest/globals';
import { questionWithCode } from '../../../../../bridge/dialects/plain-text-question.ts';
import type { Observation } from '../../../../../bridge/dialects/observation.ts';
import {
  foldObservedEvent,
  hasSettled,
  type TaskView,
} from '../../../../../bridge/sessions/session/observed-task.ts';
import { cpuMsOf } from '../../../../support/cpu-time.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const ids = { taskId: 't', sessionId: 's' };
const moving: Observation = { type: 'moving', ...ids, text: null };
const said = (text: string): Observation => ({ type: 'said', ...ids, text });
const account = (text: string): Observation => ({ type: 'account', ...ids, text });
const asked = (callId: string, shown = 'h'): Observation[] => [
  {
    type: 'asked',
    ...ids,
    action: pendingWrite(callId, { shown }),
    proposal: { code: shown, file: null },
  },
  { type: 'activity', activity: { type: 'tool.requested', callId, tool: 'w', title: 'W', asks: true } },
];
const ended = (callId: string): Observation => ({
  type: 'activity',
  activity: {
    type: 'tool.finished',
    callId,
    tool: 'w',
    title: 'W',
    toolId: null,
    outcome: 'ok',
    summary: '',
  },
});
const question = questionWithCode({ id: 'q', text: 'What now?' });
const over = (more: { question?: typeof question; told?: boolean } = {}): Observation => ({
  type: 'turn-ended',
  ...ids,
  question: null,
  told: true,
  ...more,
});
const decided = (...callIds: string[]): Observation => ({ type: 'decided', ...ids, callIds });
const output = (text: string): Observation => ({ type: 'tool-output', ...ids, callId: 'c', text });

function folded(...observations: Observation[]): TaskView {
  let view: TaskView | undefined;
  for (const each of observations) view = foldObservedEvent(view, { seq: null, observations: [each] });
  if (view === undefined) throw new Error('nothing was folded');
  return view;
}
const texts = (view: TaskView): string[] => view.outputs.map(({ text }) => text);

describe('a turn that consists of several events', () => {
  test('the turn has its result when it ends, not when a call asks, because more calls may follow', () => {
    const asks = folded(moving, ...asked('c'));
    expect(hasSettled(asks)).toBe(false);
    const parked = folded(moving, ...asked('c'), over());
    expect(parked).toMatchObject({ state: 'input-required', pending: [{ callId: 'c' }] });
    expect(hasSettled(parked)).toBe(true);
  });

  test('the turn is "completed" when it ends and nothing waits', () => {
    expect(folded(moving, said('Done.'), over())).toMatchObject({ state: 'completed', pending: [] });
  });

  test('the turn waits for text if the agent asks in text, and its calls are no longer pending', () => {
    const view = folded(moving, ...asked('c'), over({ question }));
    expect(view).toMatchObject({ state: 'input-required', question, pending: [] });
    expect(hasSettled(view)).toBe(true);
  });

  test('a turn with a failure does not end as "completed"', () => {
    const view = folded(moving, { type: 'troubled', ...ids, question }, moving, over());
    expect(view).toMatchObject({ state: 'input-required', question });
    expect(folded(moving, { type: 'troubled', ...ids, question }, over(), moving).question).toBeNull();
  });

  test('the turn has its answer in pieces, separated by calls', () => {
    expect(
      texts(folded(moving, said('I '), said('write.'), ...asked('c'), said('Writ'), said('ten.'))),
    ).toEqual(['I write.', 'Written.']);
  });

  test('the turn keeps the longer version of the text', () => {
    expect(texts(folded(moving, said('I wri'), account('I write.')))).toEqual(['I write.']);
    expect(texts(folded(moving, said('I write.'), account('I')))).toEqual(['I write.']);
  });

  test('the next turn of the same task begins without content of the previous turn', () => {
    const view = folded(moving, said('One.'), ...asked('c'), ended('c'), over(), moving, said('Two.'));
    expect(view.calls).toEqual([]);
    expect(texts(view)).toEqual(['Two.']);
  });

  test('after a decision, the turn continues with its earlier content', () => {
    const view = folded(moving, said('One.'), ...asked('c'), over(), decided('c'), moving, ended('c'));
    expect(view).toMatchObject({ state: 'working', pending: [], calls: [{ callId: 'c', state: 'ok' }] });
    expect(texts(view)).toEqual(['One.']);
  });

  test('a call that asks again with another input says that the input has changed', () => {
    const view = folded(moving, ...asked('c'), over(), decided('c'), ...asked('c', 'other'), over());
    expect(view.pending).toMatchObject([{ callId: 'c', shown: 'other', reason: 'content-changed' }]);
    const repeated = folded(moving, ...asked('c'), ...asked('c'), over());
    expect(repeated.pending).toMatchObject([{ reason: 'approval' }]);
  });

  test('a decided call that does not ask again is not pending when the turn ends', () => {
    expect(folded(moving, ...asked('c'), over(), decided('c'), over()).state).toBe('completed');
  });

  test('the turn keeps the received events, even if the agent has forgotten them', () => {
    const forgotten = over({ question, told: false });
    expect(folded(moving, said('Done.'), over(), forgotten).state).toBe('completed');
    expect(folded(moving, ...asked('c'), forgotten)).toMatchObject({
      state: 'input-required',
      question: null,
      pending: [{ callId: 'c' }],
    });
    expect(folded(moving, forgotten)).toMatchObject({ state: 'input-required', question });
  });

  test('a repeated end of a call, and a repeated start of the turn, change nothing', () => {
    const view = folded(moving, ...asked('c'), ended('c'));
    expect(foldObservedEvent(view, { seq: null, observations: [ended('c'), moving] })).toBe(view);
  });

  test('the output of a running tool is its newest part', () => {
    expect(folded(moving, ...asked('c'), output('1'), output('1 2')).calls).toMatchObject([
      { summary: '1 2' },
    ]);
  });

  // Both need the same work if it is linear. Cubic work for the one event would take 64 times as long.
  test('X3 one event about many calls takes no longer than many events about few', () => {
    timeOfCalls(200);
    const small = Array.from({ length: 8 }, () => timeOfCalls(200)).reduce((sum, each) => sum + each, 0);
    expect(timeOfCalls(1_600) / Math.max(10, small)).toBeLessThan(8);
  });

  test('the turn keeps the newest pending actions if the agent asks about too many', () => {
    const calls = Array.from({ length: 250 }, (_, at) => asked(`c${String(at)}`)).flat();
    const { pending, proposals } = folded(moving, ...calls, over());
    expect(pending).toHaveLength(200);
    expect(pending.at(-1)).toMatchObject({ callId: 'c249' });
    expect(proposals?.size).toBe(200);
  });
});

function timeOfCalls(count: number): number {
  const observations = Array.from({ length: count }, (_, at) => asked(`c${String(at)}`)).flat();
  return cpuMsOf(() => foldObservedEvent(undefined, { seq: null, observations: [moving, ...observations] }));
}
