import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ClientError } from '../../../../../shared/client/core/client-error.ts';
import type { Execution, ExecutionOptions } from '../../../../../shared/client/core/execution.ts';
import { ActiveExecutions } from '../../../../../shared/client/core/active-executions.ts';
import { CountingTarget } from './counting-page.ts';
import { reportIn, ScriptedLine } from './scripted-line.ts';

let page: CountingTarget;
let executions: ActiveExecutions;
beforeEach(() => {
  page = new CountingTarget();
  executions = new ActiveExecutions(page);
});

const unloads = (): number => page.listening('pagehide');

interface Begun {
  line: ScriptedLine;
  execution: Execution;
  controller: AbortController;
  /** Returns the number of listeners on the execution's signal. */
  watched: () => number;
}

function begin(options: ExecutionOptions = {}): Begun {
  const controller = new AbortController();
  const { signal } = controller;
  const [add, remove] = [jest.spyOn(signal, 'addEventListener'), jest.spyOn(signal, 'removeEventListener')];
  const line = new ScriptedLine();
  const execution = executions.begin(line, { onUnload: 'cancel', signal, ...options });
  return {
    line,
    execution,
    controller,
    // The removal of an unknown listener has no effect. So the counts are equal only if each added listener was
    // removed.
    watched: () =>
      add.mock.calls.filter(
        ([type, listener]) => !remove.mock.calls.some(([t, l]) => t === type && l === listener),
      ).length,
  };
}

/** All the ways in which an execution can settle. */
const ENDS: [string, (begun: Begun) => unknown, object][] = [
  ['completes', ({ line }) => line.end.resolve(reportIn('completed')), { state: 'completed' }],
  ['fails', ({ line }) => line.end.resolve(reportIn('failed')), { state: 'failed' }],
  [
    'is lost',
    ({ line }) => line.end.reject(new ClientError('unreachable', 'gone')),
    { code: 'unreachable', message: 'gone' },
  ],
  ['is aborted by its signal', ({ controller }) => controller.abort('enough'), { state: 'canceled' }],
  ['is cancelled', ({ execution }) => execution.cancel(), { state: 'canceled' }],
  [
    'is cancelled twice, and by its signal',
    async ({ execution, controller }) => {
      controller.abort();
      await Promise.all([execution.cancel('a'), execution.cancel('b')]);
    },
    { state: 'canceled' },
  ],
  ['is detached from', ({ execution }) => execution.detach(), { code: 'detached' }],
  [
    'is detached from before it has begun, and cancelled after',
    async ({ execution }) => {
      execution.detach();
      await execution.result.catch(() => undefined);
      await execution.cancel();
    },
    { code: 'detached' },
  ],
  [
    'cannot be cancelled',
    ({ line, controller }) => {
      line.cancelFails = new ClientError('unreachable', 'no answer');
      controller.abort();
    },
    { code: 'unreachable', message: 'no answer' },
  ],
];

describe('an execution of the client library', () => {
  test.each(ENDS)(
    'R51 an execution that %s leaves no listener and is no longer active',
    async (_, end, what) => {
      const begun = begin();
      await begun.line.began.promise;
      expect([unloads(), begun.watched(), executions.active.length]).toEqual([1, 1, 1]);
      await end(begun);
      const settled = await begun.execution.result.catch((error: unknown) => error);
      expect(settled).toMatchObject(what);
      expect([unloads(), begun.watched(), executions.active.length]).toEqual([0, 0, 0]);
    },
  );

  test('R51 an execution cancels at once when its page unloads, and leaves no listener, even if the page is cached', async () => {
    const { line, execution } = begin();
    await line.began.promise;
    page.dispatchEvent(Object.assign(new Event('pagehide'), { persisted: true }));
    expect(line.leavings).toEqual(['the page that started it was left']);
    expect(unloads()).toBe(0);
    page.dispatchEvent(new Event('pagehide'));
    expect(line.leavings).toHaveLength(1);
    line.end.resolve(reportIn('canceled'));
    await execution.result;
    expect(unloads()).toBe(0);
  });

  test('an execution cancels at beforeunload, once, and not while the page asks the person whether to stay', async () => {
    const { line } = begin();
    await line.began.promise;
    const asking = new Event('beforeunload', { cancelable: true });
    asking.preventDefault();
    page.dispatchEvent(asking);
    expect(line.leavings).toEqual([]);
    page.dispatchEvent(new Event('beforeunload', { cancelable: true }));
    page.dispatchEvent(new Event('pagehide'));
    expect(line.leavings).toEqual(['the page that started it was left']);
    expect([page.listening('beforeunload'), page.listening('pagehide')]).toEqual([0, 0]);
  });

  test('R51 in a restored page, an execution watches the unload again, and does not cancel an earlier execution twice', async () => {
    const first = begin();
    page.dispatchEvent(new Event('pagehide'));
    const second = begin();
    expect(unloads()).toBe(1);
    page.dispatchEvent(new Event('pagehide'));
    expect([first.line.leavings.length, second.line.leavings.length]).toEqual([1, 1]);
  });

  test('R51 all executions share one page listener, and the unload cancels only those that requested it', async () => {
    const quiet = begin({ onUnload: 'detach' });
    expect(unloads()).toBe(0);
    const [first, second] = [begin(), begin()];
    expect(unloads()).toBe(1);
    first.line.end.resolve(reportIn('completed'));
    await first.execution.result;
    expect(unloads()).toBe(1);
    page.dispatchEvent(new Event('pagehide'));
    expect([quiet, first, second].map(({ line }) => line.leavings.length)).toEqual([0, 0, 1]);
  });

  test('an execution sends nothing if its signal is aborted before the start', async () => {
    const line = new ScriptedLine();
    const execution = executions.begin(line, { signal: AbortSignal.abort() });
    await expect(execution.result).rejects.toMatchObject({ code: 'aborted' });
    expect(line.cancels).toEqual([]);
    expect(executions.active).toEqual([]);
  });

  test('an execution sends only the first of two cancels, and none after its end', async () => {
    const { line, execution } = begin();
    await line.began.promise;
    await Promise.all([execution.cancel('first'), execution.cancel('second')]);
    await execution.result;
    await execution.cancel('third');
    expect(line.cancels).toEqual(['first']);
  });

  test('an execution can be cancelled again after a failed cancel', async () => {
    const { line, execution } = begin();
    await line.began.promise;
    line.cancelFails = new ClientError('unreachable', 'no answer');
    await expect(execution.cancel('first')).rejects.toMatchObject({ code: 'unreachable' });
    line.cancelFails = undefined;
    await execution.cancel('second');
    await expect(execution.result).resolves.toMatchObject({ state: 'canceled', message: 'second' });
  });

  test('an execution rejects with the error of its progress callback, and reports nothing afterwards', async () => {
    const told: string[] = [];
    const { line, execution } = begin({
      onProgress: ({ type }) => {
        told.push(type);
        throw new Error('a bug in the page');
      },
    });
    const tell = await line.began.promise;
    tell({ type: 'note', message: 'one' });
    tell({ type: 'note', message: 'two' });
    await expect(execution.result).rejects.toThrow('a bug in the page');
    expect(told).toEqual(['note']);
    expect(line.cancels).toEqual([]);
  });

  test('an execution sends its signal’s reason to the server if the reason is text', async () => {
    const { line, execution, controller } = begin();
    await line.began.promise;
    controller.abort('the person pressed stop');
    await execution.result;
    expect(line.cancels).toEqual(['the person pressed stop']);
  });
});

test('cancelAll cancels all executions in parallel, and reports the failures', async () => {
  const [first, second] = [begin(), begin()];
  await Promise.all([first.line.began.promise, second.line.began.promise]);
  first.line.cancelFails = new ClientError('unreachable', 'no answer');
  await expect(executions.cancelAll('all')).rejects.toMatchObject({
    message: '1 of 2 could not be cancelled.',
    errors: [expect.objectContaining({ code: 'unreachable' })],
  });
  await expect(second.execution.result).resolves.toMatchObject({ state: 'canceled' });
});

test('outside a browser page there is no page listener', async () => {
  const line = new ScriptedLine();
  const execution = new ActiveExecutions(undefined).begin(line, { onUnload: 'cancel' });
  line.end.resolve(reportIn('completed'));
  await expect(execution.result).resolves.toMatchObject({ state: 'completed' });
});
