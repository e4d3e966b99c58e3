/** Tests that time limits stop slow work with a reason, and that a spent budget asks a person. */
import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import type { OrphanProcess } from '../../../a2a-server/processes/child-process-records.ts';
import type { Tool } from '../../../a2a-server/tools/tool.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { lookTool } from '../../support/look-tool.ts';
import { ScriptedModel, type ScriptedTurn } from '../../support/scripted-model.ts';
import { journalWith } from '../../support/journal-with.ts';
import {
  ADA,
  eventsOf,
  messageOf,
  sendUntilSettled,
  startScripted,
  startTaskService,
  untilIdle,
  untilSettled,
  type ServiceOptions,
} from '../../support/task-service.ts';

const LOOK = { calls: [{ tool: 'look', input: {} }] };

/** Creates a tool that reports its start, and runs until it is stopped. */
function endless(timeoutMs = 3_600_000): { tool: Tool; runs: Promise<void> } {
  let begin: (() => void) | undefined;
  const runs = new Promise<void>((resolve) => (begin = resolve));
  const tool = lookTool(async (signal) => {
    begin?.();
    await once(signal, 'abort');
    throw new Error('stopped');
  }, timeoutMs);
  return { tool, runs };
}

/** Simulates a disk that refuses appends while it is full. */
class Interruption {
  full = false;
  readonly between = (journal: Journal): Journal =>
    journalWith(journal, {
      append: (append) =>
        this.full ? Promise.reject(new ProductError('STORAGE', 'the disk is full')) : journal.append(append),
    });
}

const quick = lookTool(() => Promise.resolve());

/** Creates a model whose turn ends only when the test ends it. */
function slow(...turns: ScriptedTurn[]): { models: ScriptedModel; asked: Promise<void> } {
  const models = new ScriptedModel([...turns, { text: 'Thinking', until: new Promise(() => undefined) }]);
  const stream = models.stream.bind(models);
  let begin: (() => void) | undefined;
  const asked = new Promise<void>((resolve) => (begin = resolve));
  models.stream = async function* (request) {
    for await (const event of stream(request)) {
      yield event;
      if (event.type === 'text') begin?.();
    }
  };
  return { models, asked };
}

describe('the time limits of a task', () => {
  it('A1 the server’s limit stops a tool with a longer limit of its own; the model gets the reason and continues', async () => {
    const { tool, runs } = endless();
    const turns = [LOOK, { text: 'Well.' }];
    const { models, ...service } = await startScripted(turns, { tools: [tool], limits: { toolMs: 90_000 } });
    const accepted = await service.tasks.send(messageOf('look'));
    await runs;
    service.clock.advance(90_000);
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    expect(models.requests[1]?.conversation.at(-1)).toMatchObject({
      results: [{ text: 'Stopped after its time limit of 90 s.', isError: true }],
    });
    expect(await eventsOf(service, accepted.taskId)).toContainEqual(
      expect.objectContaining({ outcome: expect.objectContaining({ type: 'stopped', reason: 'timeout' }) }),
    );
  });

  it('A1 if a model does not end its turn in time, the task fails and keeps the text so far', async () => {
    const { models, asked } = slow();
    const service = await startTaskService({ models, limits: { modelMs: 600_000 } });
    const accepted = await service.tasks.send(messageOf('think'));
    await asked;
    service.clock.advance(600_000);
    const { status } = await untilSettled(service.tasks, accepted);
    expect(status).toEqual({
      state: 'failed',
      message: 'The model could not continue: The model did not answer within its time limit of 10 min.',
    });
    const types = (await eventsOf(service, accepted.taskId)).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['turn.abandoned', 'task.failed']);
    await untilIdle(service.tasks);
    expect(service.clock.pending).toBe(0);
  });

  it('A1 if a turn takes too long, the server stops its tools, and does not start the remaining calls', async () => {
    const { tool, runs } = endless(86_400_000);
    let ran = false;
    const other = { ...lookTool(async () => void (ran = true)), name: 'other', sideEffect: 'files' as const };
    const calls = ['look', 'other'].map((name) => ({ tool: name, input: {} }));
    const { models, ...service } = await startScripted([{ calls }, { text: 'Well.' }], {
      tools: [tool, other],
      limits: { turnMs: 7_200_000 },
    });
    const accepted = await service.tasks.send(messageOf('look', { settings: { autoExecute: true } }));
    await runs;
    service.clock.advance(7_200_000);
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    const told = { text: 'The turn took longer than its time limit of 2 h.', isError: true };
    expect(models.requests[1]?.conversation.at(-1)).toMatchObject({ results: [told, told] });
    expect(ran).toBe(false);
  });

  it('A1 a task that works for too long fails, even while a tool runs, and its tools stop', async () => {
    const { tool, runs } = endless();
    const service = await startScripted([LOOK], { tools: [tool], limits: { taskMs: 60_000 } });
    const accepted = await service.tasks.send(messageOf('look'));
    await runs;
    service.clock.advance(60_000);
    const { status } = await untilSettled(service.tasks, accepted);
    expect(status).toEqual({
      state: 'failed',
      message:
        'The task worked longer than its time limit of 1 min. To continue, send another message in its session.',
    });
    const events = await eventsOf(service, accepted.taskId);
    expect(events.at(-2)).toMatchObject({ type: 'tool.finished', outcome: { reason: 'timeout' } });
    await service.stop();
    expect([service.tasks.running(), service.failures]).toEqual([[], []]);
  });

  it('the time that a person needs for a decision does not count as working time', async () => {
    const asks = { ...quick, sideEffect: 'files' as const };
    const limits = { taskMs: 60_000, turnMs: 60_000 };
    const service = await startScripted([LOOK, { text: 'Done.' }], { tools: [asks], limits });
    const accepted = await service.tasks.send(messageOf('look'));
    const { status } = await untilSettled(service.tasks, accepted);
    await untilIdle(service.tasks);
    expect([status.state, service.clock.pending]).toEqual(['input-required', 0]);
    service.clock.advance(3_600_000);
    const [call] = status.state === 'input-required' ? status.pending : [];
    await service.tasks.cancel(accepted.taskId, { principal: ADA, channel: 'test' }, 'enough');
    expect(call).toMatchObject({ tool: 'look' });
    expect((await service.tasks.snapshot(accepted.taskId, { principal: ADA })).spent.activeMs).toBe(0);
  });
});

describe('the budget of a task', () => {
  it.each([
    ['turns', { turns: 2 }, 'turns of the model: 2'],
    ['tool calls', { toolCalls: 2 }, 'tool calls: 2'],
    ['tokens', { tokens: 4 }, 'tokens: 4'],
    ['money', { usd: 4 }, 'US dollars: 4.00'],
  ])(
    'if a budget of %s is spent, the task asks a person; a reply allows the same amount again',
    async (_, budget, said) => {
      const price = { input: 500_000, output: 1_500_000 };
      const models = new ScriptedModel([LOOK, LOOK, LOOK, LOOK, { text: 'Done.' }], { price });
      const service = await startTaskService({ models, tools: [quick], budget });
      const accepted = await service.tasks.send(messageOf('look around'));
      const { status } = await untilSettled(service.tasks, accepted);
      expect(status).toMatchObject({
        state: 'input-required',
        pending: [],
        question: expect.stringContaining(said),
      });
      expect(models.requests).toHaveLength(2);
      const again = await service.tasks.send(messageOf('go on, but faster', { taskId: accepted.taskId }));
      expect((await untilSettled(service.tasks, again)).status).toMatchObject({ state: 'input-required' });
      expect(models.requests).toHaveLength(4);
      expect(models.requests[2]?.conversation.at(-1)).toEqual({ role: 'user', text: 'go on, but faster' });
      const last = await service.tasks.send(messageOf('and to the end', { taskId: accepted.taskId }));
      expect((await untilSettled(service.tasks, last)).status).toEqual({ state: 'completed' });
    },
  );

  it('a "deny" of a text-only client does not raise the budget: the reply says how to end the task', async () => {
    const service = await startScripted([LOOK, { text: 'Done.' }], { tools: [quick], budget: { turns: 1 } });
    const { taskId, seq } = await service.tasks.send(messageOf('look around'));
    const { status } = await untilSettled(service.tasks, { taskId, seq });
    await expect(service.tasks.send(messageOf('deny', { taskId, wordsDecide: true }))).rejects.toMatchObject({
      reason: 'DECISION_NEEDED',
      message: expect.stringContaining('Cancel the task'),
    });
    expect((await service.tasks.snapshot(taskId, { principal: ADA })).status).toEqual(status);
    const again = await service.tasks.send(messageOf('approve', { taskId, wordsDecide: true }));
    expect((await untilSettled(service.tasks, again)).status).toEqual({ state: 'completed' });
  });

  it('after its working time reaches the budget, the task asks the person, but not in the middle of a turn', async () => {
    const { tool, runs } = endless(60_000);
    const turns = [LOOK, { text: 'Done.' }];
    const service = await startScripted(turns, { tools: [tool], budget: { activeMs: 30_000 } });
    const accepted = await service.tasks.send(messageOf('look'));
    await runs;
    service.clock.advance(60_000);
    const { status, calls } = await untilSettled(service.tasks, accepted);
    expect(status).toMatchObject({ question: expect.stringContaining('seconds at work: 60') });
    expect(Object.values(calls)).toMatchObject([{ state: { type: 'settled' } }]);
    const again = await service.tasks.send(messageOf('go on', { taskId: accepted.taskId }));
    expect((await untilSettled(service.tasks, again)).status).toEqual({ state: 'completed' });
  });

  it('the server does not ask about the budget of an ended task, and the budget survives a restart', async () => {
    const turns = [LOOK, { text: 'Done.' }, LOOK, { text: 'Done.' }];
    const first = await startScripted(turns, { tools: [quick], budget: { turns: 2 } });
    const { status } = await sendUntilSettled(first.tasks, messageOf('look'));
    expect(status).toEqual({ state: 'completed' });
    const second = await first.restart({ budget: { turns: 1 } });
    const accepted = await second.tasks.send(messageOf('look'));
    expect((await untilSettled(second.tasks, accepted)).status.state).toBe('input-required');
    const third = await second.restart();
    await third.tasks.recover();
    const again = await third.tasks.send(messageOf('go on', { taskId: accepted.taskId }));
    expect((await untilSettled(third.tasks, again)).status).toEqual({ state: 'completed' });
  });
});

describe('the time in which no server runs', () => {
  const DAY_MS = 86_400_000;

  /**
   * A task whose tool had run for 10 s when its server ended. The next server continues the task a day later.
   * @param ended how the first server ended: `killed` leaves the call open, and its process among the `orphans`
   */
  async function dayAfter(
    limits: Pick<ServiceOptions, 'limits' | 'budget'>,
    {
      ended = 'stopped',
      orphans = [],
      ...restart
    }: { ended?: 'stopped' | 'killed'; orphans?: OrphanProcess[] } & Partial<ServiceOptions> = {},
  ) {
    const { tool, runs } = endless();
    const killed = new Interruption();
    const before = await startScripted([LOOK, { text: 'Done.' }], {
      ...limits,
      tools: [{ ...tool, sideEffect: 'files' }],
      between: killed.between,
    });
    const { clock } = before;
    const accepted = await before.tasks.send(messageOf('look', { settings: { autoExecute: true } }));
    await runs;
    clock.advance(10_000);
    if (ended === 'killed') {
      for (const { toolId } of await before.tasks.toolExecutions({ principal: ADA }))
        orphans.push({ owner: { type: 'tool-execution', toolId }, group: 4242 });
      killed.full = true;
    }
    const stopped = before.stop();
    before.tasks.stopTools();
    await stopped;
    clock.advance(DAY_MS);
    const service = await before.restart({ tools: [tool], between: (journal) => journal, ...restart });
    await service.tasks.recover();
    return { service, accepted };
  }

  it.each<[string, Pick<ServiceOptions, 'limits' | 'budget'>]>([
    ['A1 reaches no limit of the task', { limits: { taskMs: 60_000 } }],
    ['spends no budget', { budget: { activeMs: 60_000 } }],
  ])('%s', async (_what, limits) => {
    const { service, accepted } = await dayAfter(limits);
    const { status, spent } = await untilSettled(service.tasks, accepted);
    expect(status).toEqual({ state: 'completed' });
    expect(spent.activeMs).toBe(10_000);
  });

  it('R28 the time counts against no budget if the next server cannot write at first', async () => {
    const disk = new Interruption();
    disk.full = true;
    const { service, accepted } = await dayAfter({ budget: { activeMs: 60_000 } }, { between: disk.between });
    await untilIdle(service.tasks);
    expect(service.failures).toMatchObject([{ reason: 'STORAGE' }]);
    disk.full = false;
    const end = untilSettled(service.tasks, accepted);
    service.clock.advance(60_000);
    const { status, spent } = await end;
    expect(status).toEqual({ state: 'completed' });
    expect(spent.activeMs).toBe(10_000);
  });

  it('D6 the time counts against no budget while a process of the killed server still runs', async () => {
    const orphans: OrphanProcess[] = [];
    const children = { endOrphans: () => Promise.resolve(orphans) };
    const { service, accepted } = await dayAfter(
      { budget: { activeMs: 60_000 } },
      { ended: 'killed', children, orphans },
    );
    const { tasks, clock } = service;
    await untilIdle(tasks);
    expect(await tasks.snapshot(accepted.taskId, { principal: ADA })).toMatchObject({
      status: { state: 'working' },
      spent: { activeMs: 0 },
    });
    clock.advance(DAY_MS);
    await untilIdle(tasks);
    orphans.pop();
    const end = untilSettled(tasks, accepted);
    clock.advance(60_000);
    expect(await end).toMatchObject({
      status: { state: 'input-required', pending: [{ tool: 'look' }] },
      spent: { activeMs: 0 },
    });
  });
});
