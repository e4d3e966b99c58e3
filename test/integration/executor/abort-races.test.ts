/** Tests an abort, a cancel and the completion of one tool execution in the same tick, in every order. */
import { describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Model } from '../../../a2a-server/models/model.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { taskStateAfter } from '../../../a2a-server/task/fold.ts';
import { TERMINAL_STATES } from '../../../a2a-server/task/snapshot.ts';
import type { Tool } from '../../../a2a-server/tools/tool.ts';
import {
  ADA,
  messageOf,
  startTaskService,
  type RunningService,
  eventsOf,
} from '../../support/task-service.ts';
import { testTool } from '../../support/look-tool.ts';

const ACTS = ['abort', 'cancel', 'finish', 'fail'] as const;
type Act = (typeof ACTS)[number];

/** Contains every order of every set of at least two actions. */
const ORDERS = orders(ACTS).filter(({ length }) => length > 1);

function orders(acts: readonly Act[]): Act[][] {
  return acts.flatMap((first) => {
    const rest = orders(acts.filter((act) => act !== first));
    return [[first], ...rest.map((order) => [first, ...order])];
  });
}

/** A tool whose run ends when the test commands it. With `heeds`, an abort ends the run too. */
class CommandedTool {
  readonly tool: Tool;
  readonly #told = new EventEmitter();

  constructor(heeds: boolean) {
    this.tool = testTool({
      name: 'act',
      sideEffect: 'files',
      schema: z.strictObject({}),
      run: async (_input, { signal }) => {
        const end = once(this.#told, 'finish', heeds ? { signal } : {});
        this.#told.emit('begun');
        await end;
        return { text: 'Acted.', summary: 'acted' };
      },
    });
  }

  /** Resolves when its next run has started. */
  async begins(): Promise<void> {
    await once(this.#told, 'begun');
  }

  finish(): void {
    this.#told.emit('finish');
  }

  fail(): void {
    // A run that has ended ignores further commands.
    if (this.#told.listenerCount('error') > 0) this.#told.emit('error', new Error('it broke'));
  }
}

/** Requests the tool once, and then finishes. */
const model: Model = {
  id: 'once',
  async *stream({ exchanges }) {
    const asks = exchanges.every(({ type }) => type === 'message');
    if (asks) yield { type: 'call', modelCallId: 'call', tool: 'act', input: {} };
    yield { type: 'finish', end: asks ? 'tool-calls' : 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
  },
};

const start = ({ tool }: CommandedTool): Promise<RunningService> =>
  startTaskService({ models: { resolve: () => model, list: () => [model.id] }, tools: [tool] });

describe('R47 A3 an abort, a cancel and a completion in the same tick of the event loop', () => {
  it.each([true, false])(
    'every order has exactly one outcome, and no request hangs (the tool reacts to its signal: %s)',
    async (heeds) => {
      const act = new CommandedTool(heeds);
      const service = await start(act);
      const { tasks, clock, failures } = service;
      for (const order of ORDERS) {
        const { events, answers } = await race(service, act, order);
        const finished = events.filter((event) => event.type === 'tool.finished');
        const ends = events.filter(isEnd);
        expect({ order, finished: finished.length, ends: ends.length }).toEqual({
          order,
          finished: 1,
          ends: 1,
        });
        // The abort may report success only if the journal records the stop.
        const aborted = finished.some(({ outcome }) => outcome.type === 'stopped');
        if (answers.abort === true) expect({ order, aborted }).toEqual({ order, aborted: true });
        if (order.includes('cancel'))
          expect({ order, state: answers.cancel }).toEqual({ order, state: 'canceled' });
      }
      await service.stop();
      expect([tasks.running(), tasks.executing(), clock.pending, failures]).toEqual([[], 0, 0, []]);
    },
  );
});

describe('an abort', () => {
  it('R47 an abort after a cancel reports that the task’s cancel was already stopping the tool', async () => {
    const act = new CommandedTool(false);
    const { tasks } = await start(act);
    const begun = act.begins();
    const { taskId } = await tasks.send(messageOf('act', { settings: { autoExecute: true } }));
    await begun;
    const [execution] = tasks.running();
    const aborted = tasks.abortTool(execution?.toolId ?? '', { principal: ADA }, 'enough');
    await tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'enough');
    act.finish();
    expect(await aborted).toEqual({
      success: false,
      message: `Tool execution ${execution?.toolId} was already being stopped with its task.`,
    });
  });
});

function isEnd(event: TaskEvent): boolean {
  const state = taskStateAfter([event]);
  return state !== undefined && TERMINAL_STATES.has(state);
}

interface Answers {
  /** The result of the abort. True if the abort stopped the tool. */
  abort?: boolean;
  /** The task state in the result of the cancel. */
  cancel?: string;
}

/** Starts a task, runs all actions at once, and waits until the task has ended. */
async function race(
  { tasks, clock }: RunningService,
  act: CommandedTool,
  order: readonly Act[],
): Promise<{ events: TaskEvent[]; answers: Answers }> {
  const begun = act.begins();
  const { taskId } = await tasks.send(messageOf('act', { settings: { autoExecute: true } }));
  await begun;
  const [execution] = tasks.running();
  const answers: Answers = {};
  const asked: Promise<void>[] = [];
  const perform: Record<Act, () => void> = {
    abort: () => asked.push(abort()),
    cancel: () => asked.push(cancel()),
    finish: () => act.finish(),
    fail: () => act.fail(),
  };
  const abort = async (): Promise<void> => {
    answers.abort = (await tasks.abortTool(execution?.toolId ?? '', { principal: ADA }, 'enough')).success;
  };
  const cancel = async (): Promise<void> => {
    answers.cancel = (await tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'enough')).status.state;
  };
  for (const what of order) perform[what]();

  const over = Promise.all([eventsOf({ tasks }, taskId, 'ended'), ...asked]);
  // The server waits for the grace period, and then continues without a tool that ignores its signal.
  const passing = new AbortController();
  const time = (async () => {
    while (!passing.signal.aborted) {
      await nextTurn();
      clock.advance(1_000);
    }
  })();
  const [events] = await over.finally(() => passing.abort());
  await time;
  while (tasks.executing() > 0) await nextTurn();
  return { events, answers };
}
