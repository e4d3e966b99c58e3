import { describe, expect, it } from '@jest/globals';
import {
  activeTime,
  budgetQuestion,
  NO_BUDGET,
  NO_BUDGET_USAGE,
  type Budget,
} from '../../../../a2a-server/task/budget.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { foldAll } from '../../../../a2a-server/task/fold.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { delta, message, toolStarted, working } from '../../../support/journal-samples.ts';

/** Returns a task with these events, each at its time in milliseconds. */
function taskAfter(...events: readonly (readonly [at: number, event: TaskEvent])[]): Snapshot {
  const created: TaskEvent = { type: 'task.created', sessionId: 's', principal: 'p', settings: {} };
  const all = [[0, created], ...events] as const;
  const task = foldAll(
    't',
    all.map(([at, event], index) => ({ seq: index + 1, at, event })),
  );
  if (task === undefined) throw new Error('no task');
  return task;
}

const started: TaskEvent = { type: 'turn.started', turn: 1, model: 'm' };
const finished: TaskEvent = {
  type: 'turn.finished',
  turn: 1,
  end: 'tool-calls',
  usage: { inputTokens: 30, outputTokens: 4 },
  usd: 0.5,
};
const summarised: TaskEvent = {
  type: 'context.summarised',
  upTo: { taskId: 't', turn: 1 },
  summary: 'so far',
  model: 'm',
  usage: { inputTokens: 100, outputTokens: 1 },
};
const spent: TaskEvent = {
  type: 'input.required',
  pending: [],
  question: 'More?',
  budget: true,
};
const reply: TaskEvent = { type: 'input.required', pending: [], question: 'Which?' };

describe('the used part of a budget', () => {
  it('the used part counts turns, tool calls, tokens, dollars and working time', () => {
    const task = taskAfter(
      [1_000, working],
      [1_000, started],
      [1_500, toolStarted('x')],
      [3_000, finished],
      [3_200, summarised],
    );
    expect(task.spent).toEqual({ turns: 1, toolCalls: 1, tokens: 135, usd: 0.5, activeMs: 2_200 });
  });

  it('the used part does not count a discarded turn, and is never negative', () => {
    const abandoned: TaskEvent = { type: 'turn.abandoned', turn: 1, reason: 'cut' };
    expect(taskAfter([0, working], [0, started], [0, abandoned]).spent.turns).toBe(0);
    expect(taskAfter([0, working], [0, abandoned]).spent.turns).toBe(0);
  });

  it.each<[string, TaskEvent]>([
    ['turn.abandoned', { type: 'turn.abandoned', turn: 1, reason: 'cut' }],
    ['task.working', working],
    [
      'tool.interrupted',
      { type: 'tool.interrupted', callId: 'c', tool: 'x', title: 'X', toolId: 'x', rerun: true },
    ],
  ])('the used part does not count the time before %s, because no server ran', (_type, event) => {
    const task = taskAfter([0, working], [100, delta('a')], [900_100, event], [900_150, delta('b')]);
    expect(task.spent.activeMs).toBe(150);
  });

  it('the used part does not count the time in which the task waits for a person', () => {
    const task = taskAfter([0, working], [100, reply], [5_000, message('blue')], [6_000, working]);
    expect(task.spent.activeMs).toBe(100);
    expect(activeTime(taskAfter([0, working], [100, reply]), 9_000)).toBe(100);
  });

  it('the used part includes the time since the last event while the task works', () => {
    const task = taskAfter([0, working], [100, delta('a')]);
    expect(activeTime(task, 350)).toBe(350);
    // A clock that goes back must not reduce the working time.
    expect(activeTime(task, 50)).toBe(100);
  });

  it('the used part is zero again only after a person lets the task continue', () => {
    const used = [
      [0, working],
      [0, started],
      [100, finished],
    ] as const;
    expect(taskAfter(...used, [200, spent], [300, message('go on')]).spent.turns).toBe(1);
    expect(taskAfter(...used, [200, spent], [300, message('go on')], [300, working]).spent).toEqual(
      NO_BUDGET_USAGE,
    );
    expect(taskAfter(...used, [200, reply], [300, working]).spent.turns).toBe(1);
    expect(taskAfter(...used, [200, working]).spent.turns).toBe(1);
  });
});

describe('the question about a spent budget', () => {
  const task = taskAfter([0, working], [0, started], [0, toolStarted('x')], [2_000, finished]);

  it.each<[Partial<Budget>, string]>([
    [{ turns: 1 }, 'turns of the model: 1'],
    [{ toolCalls: 1 }, 'tool calls: 1'],
    [{ tokens: 34 }, 'tokens: 34'],
    [{ usd: 0.5 }, 'US dollars: 0.50'],
    [{ activeMs: 2_000 }, 'seconds at work: 2'],
  ])('the task asks once %j is reached, and not before', (limit, words) => {
    expect(budgetQuestion(task, { ...NO_BUDGET, ...limit }, 2_000)).toContain(`(${words})`);
    const [[name, value] = ['', 0]] = Object.entries(limit);
    const higher = { ...NO_BUDGET, [name]: (value ?? 0) * 1.1 };
    expect(budgetQuestion(task, higher, 2_000)).toBeUndefined();
  });

  it('the question names every limit that is reached; without limits there is no question', () => {
    expect(budgetQuestion(task, { ...NO_BUDGET, turns: 1, tokens: 1 }, 2_000)).toContain(
      '(turns of the model: 1; tokens: 34)',
    );
    expect(budgetQuestion(task, NO_BUDGET, 1e12)).toBeUndefined();
  });
});
