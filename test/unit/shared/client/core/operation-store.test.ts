import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ClientError } from '../../../../../shared/client/core/client-error.ts';
import { ActiveExecutions } from '../../../../../shared/client/core/active-executions.ts';
import { Operations } from '../../../../../shared/client/core/operation-store.ts';
import type { Progress, OnProgress } from '../../../../../shared/client/core/progress.ts';
import type { PendingAction } from '../../../../../shared/client/core/task-report.ts';
import { reportIn, ScriptedLine } from './scripted-line.ts';

const call = { callId: 'call-1', tool: 'write-file', title: 'Write a.md' };
const pending: PendingAction = {
  ...call,
  input: {},
  sideEffect: 'files',
  reason: 'approval',
  preview: { type: 'text', text: '+hello' },
  expiresAt: null,
  decisions: ['approve', 'deny'],
  shown: '3f9ac2d1',
};

let lines: ScriptedLine[];
let operations: Operations<{ text: string }>;
beforeEach(() => {
  lines = [];
  const executions = new ActiveExecutions(undefined);
  operations = new Operations({
    start: (_request, options) => {
      const line = new ScriptedLine();
      lines.push(line);
      return executions.begin(line, options ?? {});
    },
  });
});

async function begun(text = 'work'): Promise<{ id: string; line: ScriptedLine; tell: OnProgress }> {
  const id = operations.start({ text });
  const line = lines.at(-1) ?? new ScriptedLine();
  return { id, line, tell: await line.began.promise };
}

/** Resolves when the operation has ended. */
function over(id: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = operations.subscribe(() => {
      const { state = 'starting' } = operations.get(id) ?? {};
      if (!['completed', 'canceled', 'failed', 'rejected'].includes(state)) return;
      stop();
      resolve();
    });
  });
}

describe('the operations in a user interface', () => {
  test('an operation is shown from its start to its result, with progress and output', async () => {
    const { id, line, tell } = await begun();
    expect(operations.get(id)).toEqual({ id, title: 'work', progress: '', output: '', state: 'starting' });
    const seen: unknown[] = [];
    operations.subscribe(() => seen.push(operations.get(id)));
    const story: Progress[] = [
      { type: 'state', report: reportIn('working') },
      { type: 'text', text: 'I will ' },
      { type: 'text', text: 'write.' },
      { type: 'state', report: reportIn('waiting', { pending: [pending], output: 'I will write.' }) },
      { type: 'activity', activity: { type: 'tool.started', ...call, toolId: 't' } },
      { type: 'activity', activity: { type: 'tool.output', ...call, toolId: 't', text: 'one\ntwo\n' } },
      { type: 'reconnecting', attempt: 1, error: new ClientError('unreachable', 'gone') },
      { type: 'reconnected' },
      { type: 'note', message: 'thinking' },
    ];
    story.forEach(tell);
    expect(seen).toMatchObject([
      { state: 'running', output: '' },
      { state: 'running', output: 'I will ' },
      { state: 'running', output: 'I will write.' },
      { state: 'waiting', pending: [pending], question: null, output: 'I will write.' },
      { progress: 'write-file runs: Write a.md' },
      { progress: 'two' },
      { progress: 'The connection was lost. Reconnecting.' },
      { progress: '' },
      { progress: 'thinking' },
    ]);
    const ended = over(id);
    line.end.resolve(reportIn('completed', { output: 'Done.' }));
    await ended;
    expect(operations.get(id)).toMatchObject({ state: 'completed', output: 'Done.' });
  });

  test.each([
    ['canceled', reportIn('canceled', { message: 'enough' }), { state: 'canceled', reason: 'enough' }],
    [
      'rejected',
      reportIn('rejected', { message: 'not my job' }),
      { state: 'rejected', reason: 'not my job' },
    ],
    ['failed', reportIn('failed', { message: 'no key' }), { state: 'failed', reason: 'no key', error: null }],
  ])('an operation whose task has %s shows that, with the reason', async (_, report, shown) => {
    const { id, line } = await begun();
    const ended = over(id);
    line.end.resolve(report);
    await ended;
    expect(operations.get(id)).toMatchObject(shown);
  });

  test('R100 an operation that is not delivered shows that, with the next attempt, and cannot be dismissed', async () => {
    const { id, tell } = await begun();
    const message = 'It is not delivered yet: no answer. The next try is at 2026-01-01T00:00:00.000Z.';
    tell({ type: 'state', report: reportIn('not-delivered', { message }) });
    expect(operations.get(id)).toMatchObject({ state: 'not-delivered', reason: message });
    expect(operations.dismiss(id)).toBe(false);
    tell({ type: 'state', report: reportIn('working') });
    expect(operations.get(id)).toMatchObject({ state: 'running' });
  });

  test('a lost operation fails with its error, and an operation that is aborted before it is sent is "canceled"', async () => {
    const lost = await begun();
    const error = new ClientError('unreachable', 'gone');
    let ended = over(lost.id);
    lost.line.end.reject(error);
    await ended;
    expect(operations.get(lost.id)).toMatchObject({ state: 'failed', error, report: null, reason: 'gone' });
    const id = operations.start({ text: 'work' }, { signal: AbortSignal.abort() });
    ended = over(id);
    await ended;
    expect(operations.get(id)).toMatchObject({ state: 'canceled', report: null });
  });

  test('cancels, decisions and texts reach their operation, and have no effect on an ended or unknown operation', async () => {
    const [first, second] = [await begun('one'), await begun('two')];
    await operations.decide(second.id, { callId: 'call-1', shown: '3f9ac2d1', decision: 'approve' });
    await operations.say(second.id, 'go on');
    expect([first.line.decided, first.line.said]).toEqual([[], []]);
    expect([second.line.decided, second.line.said]).toEqual([
      [{ callId: 'call-1', shown: '3f9ac2d1', decision: 'approve' }],
      ['go on'],
    ]);
    const ended = over(first.id);
    await operations.cancel(first.id, 'stop');
    await ended;
    await operations.cancel(first.id);
    await operations.cancel('nobodys');
    expect([first.line.cancels, second.line.cancels]).toEqual([['stop'], []]);
    expect(operations.all.map(({ title, state }) => [title, state])).toEqual([
      ['one', 'canceled'],
      ['two', 'starting'],
    ]);
  });

  test('only an ended operation can be dismissed', async () => {
    const { id, line } = await begun();
    expect(operations.dismiss(id)).toBe(false);
    const ended = over(id);
    line.end.resolve(reportIn('completed'));
    await ended;
    expect([operations.dismiss(id), operations.dismiss(id), operations.all]).toEqual([true, false, []]);
  });

  test('the list stays the same array until an operation changes', async () => {
    const { tell } = await begun();
    const before = operations.all;
    tell({
      type: 'activity',
      activity: { type: 'tool.output', ...call, toolId: 't', text: '\n' },
    });
    expect(operations.all).toBe(before);
    tell({ type: 'note', message: 'now' });
    expect(operations.all).not.toBe(before);
    expect(before).toMatchObject([{ progress: '' }]);
  });

  test('an unsubscribed function gets no more calls, and one function can have two subscriptions', async () => {
    const listener = jest.fn();
    const [first, second] = [operations.subscribe(listener), operations.subscribe(listener)];
    const { tell } = await begun();
    expect(listener).toHaveBeenCalledTimes(2);
    first();
    first();
    tell({ type: 'note', message: 'a' });
    expect(listener).toHaveBeenCalledTimes(3);
    second();
    tell({ type: 'note', message: 'b' });
    expect(listener).toHaveBeenCalledTimes(3);
  });
});
