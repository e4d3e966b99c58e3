/** Tests that tasks above the limit of running tasks wait for their turn, with the real task service. */
import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FairExecutionSlots } from '../../../a2a-server/limits/fair-execution-slots.ts';
import { isLimitRefusal } from '../../../shared/runtime/errors.ts';
import { toA2aTask } from '../../../a2a-server/http/wire/task-projection.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import type { ScriptedTurn } from '../../support/scripted-model.ts';
import {
  ADA,
  decisionMessage,
  eventsUntil,
  messageOf,
  pendingCall,
  startScripted,
  untilIdle,
  untilSettled,
  type RunningService,
  sendUntilSettled,
} from '../../support/task-service.ts';
import { askingTool, CALLS_ASK } from './asking-tool.ts';

type Tasks = RunningService['tasks'];

function slotsFor(principal: number, server: number, queued = 100): FairExecutionSlots {
  const queuedTasks = { principal: queued, server: queued };
  return new FairExecutionSlots({ limits: () => ({ executions: { principal, server }, queuedTasks }) });
}

const started = (slots: FairExecutionSlots, turns: ScriptedTurn[], more: object = {}) =>
  startScripted(turns, { slots, ...more });

const stateOf = async (tasks: Tasks, taskId: string, principal = ADA): Promise<string> =>
  (await tasks.snapshot(taskId, { principal })).status.state;

describe('tasks above the limit of running tasks', () => {
  it('wait as submitted, say how many tasks go first, and run in order', async () => {
    const gate = new Deferred<void>();
    const { tasks, models, clock } = await started(slotsFor(1, 4), [{ until: gate.promise }]);
    const first = await tasks.send(messageOf('one'));
    const second = await tasks.send(messageOf('two'));
    const third = await tasks.send(messageOf('three'));
    clock.advance(1_000);
    expect((await eventsUntil({ tasks }, second.taskId, 'task.queued')).at(-1)).toMatchObject({ ahead: 0 });
    expect((await eventsUntil({ tasks }, third.taskId, 'task.queued')).at(-1)).toMatchObject({
      text: 'The task waits for its turn. 1 of your tasks goes first. This server runs 4 tasks at a time, and 1 of one user.',
    });
    const waiting = await tasks.snapshot(third.taskId, { principal: ADA });
    const wire = toA2aTask(waiting, { ...third, approval: true, resumable: true });
    expect([waiting.status.state, JSON.stringify(wire.status?.message?.parts)]).toEqual([
      'submitted',
      expect.stringContaining('1 of your tasks goes first'),
    ]);
    expect([tasks.executing(), tasks.waiting(), models.requests.length]).toEqual([1, 2, 1]);
    gate.resolve();
    for (const each of [first, second, third])
      expect((await untilSettled(tasks, each)).status.state).toBe('completed');
    expect(models.requests.map(({ conversation }) => JSON.stringify(conversation.at(-1)))).toEqual([
      expect.stringContaining('one'),
      expect.stringContaining('two'),
      expect.stringContaining('three'),
    ]);
    await untilIdle(tasks);
    expect([tasks.executing(), tasks.waiting()]).toEqual([0, 0]);
  });

  it('A4 can be cancelled while they wait, without a model call', async () => {
    const gate = new Deferred<void>();
    const { tasks, models, clock } = await started(slotsFor(1, 1), [{ until: gate.promise }]);
    const first = await tasks.send(messageOf('one'));
    const second = await tasks.send(messageOf('two'));
    clock.advance(1_000);
    await eventsUntil({ tasks }, second.taskId, 'task.queued');
    const cancelled = await tasks.cancel(second.taskId, { principal: ADA, channel: 'test' }, 'not needed');
    expect([cancelled.status.state, tasks.waiting()]).toEqual(['canceled', 0]);
    gate.resolve();
    await untilSettled(tasks, first);
    await untilIdle(tasks);
    expect(models.requests).toHaveLength(1);
  });

  it('wait again after a restart of the server, and run', async () => {
    const gate = new Deferred<void>();
    const before = await started(slotsFor(1, 1), [{ until: gate.promise }]);
    const sent = [];
    for (const text of ['one', 'two', 'three']) sent.push(await before.tasks.send(messageOf(text)));
    before.clock.advance(1_000);
    await eventsUntil(before, sent[2]?.taskId ?? '', 'task.queued');
    const stopped = before.stop();
    gate.resolve();
    await stopped;
    const after = await before.restart({ slots: slotsFor(1, 1) });
    await after.tasks.recover();
    for (const each of sent) expect((await untilSettled(after.tasks, each)).status.state).toBe('completed');
    expect(before.failures).toEqual([]);
  });

  it('let a quiet user run next, although another has a long queue', async () => {
    const gates = Array.from({ length: 10 }, () => new Deferred<void>());
    const { tasks } = await started(
      slotsFor(2, 2),
      gates.map(({ promise }) => ({ until: promise })),
    );
    const loud = [];
    for (let count = 0; count < 6; count += 1) loud.push(await tasks.send(messageOf('loud')));
    const quiet = await tasks.send(messageOf('quiet', { principal: 'quiet' }));
    expect(await stateOf(tasks, quiet.taskId, 'quiet')).toBe('submitted');
    gates[0]?.resolve();
    await eventsUntil({ tasks }, quiet.taskId, 'turn.started');
    expect(tasks.waiting()).toBe(4);
    for (const gate of gates) gate.resolve();
    for (const each of loud) await untilSettled(tasks, each);
  });

  it('E3 a decision is durable at once, and the approved call runs when the task has its turn', async () => {
    const gate = new Deferred<void>();
    const { tasks, workspace } = await started(slotsFor(1, 1), [
      { calls: [{ tool: 'write-file', input: { path: 'a.txt', content: 'hello' } }] },
      { until: gate.promise },
    ]);
    const parked = await sendUntilSettled(tasks, messageOf('write'));
    // The parked task counts for nothing.
    const other = await tasks.send(messageOf('other'));
    await eventsUntil({ tasks }, other.taskId, 'turn.started');
    const decided = await tasks.send(decisionMessage(parked, { decision: 'approve' }));
    const { calls } = await tasks.snapshot(parked.taskId, { principal: ADA });
    expect([calls[pendingCall(parked)]?.state.type, tasks.waiting()]).toEqual(['ready', 1]);
    gate.resolve();
    await eventsUntil({ tasks }, decided.taskId, 'task.completed');
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('hello');
  });

  it('take the place of a task whose tool waits for a person', async () => {
    const { tool } = askingTool({ asks: [{ text: 'Which?' }] });
    const { tasks } = await started(slotsFor(1, 1), [CALLS_ASK], { tools: [tool] });
    const asking = await tasks.send(messageOf('ask'));
    await untilSettled(tasks, asking);
    const other = await tasks.send(messageOf('other'));
    expect((await untilSettled(tasks, other)).status.state).toBe('completed');
    expect(await stateOf(tasks, asking.taskId)).toBe('input-required');
  });

  it('are refused when the queue is full, and nothing is created', async () => {
    const gate = new Deferred<void>();
    const { tasks } = await started(slotsFor(1, 1, 1), [{ until: gate.promise }]);
    await tasks.send(messageOf('one'));
    await tasks.send(messageOf('two'));
    const third = messageOf('three');
    const refused: unknown = await tasks.send(third).catch((error: unknown) => error);
    expect(isLimitRefusal(refused)).toBe(true);
    expect((await tasks.list({ principal: ADA }, { size: 10 })).total).toBe(2);
    gate.resolve();
    while (tasks.waiting() > 0) await untilIdle(tasks);
    expect((await sendUntilSettled(tasks, third)).status.state).toBe('completed');
  });
});
