/** Tests questions to a person: calls that get an answer instead of running, and questions of a running tool. */
import { describe, expect, it } from '@jest/globals';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { ScriptedModel } from '../../support/scripted-model.ts';
import {
  ADA,
  decideUntilSettled,
  decisionMessage,
  eventsOf,
  messageOf,
  pendingCall,
  sendUntilSettled,
  startScripted,
  untilIdle,
  untilSettled,
  type RunningService,
  type ServiceOptions,
} from '../../support/task-service.ts';
import { askingTool, CALLS_ASK } from './asking-tool.ts';

const COLOURS = [{ label: 'red' }, { label: 'blue', description: 'as the sky' }];
const ASKS = { calls: [{ tool: 'ask-person', input: { question: 'Which colour?', choices: COLOURS } }] };
const WHICH = { text: 'Which colour?', choices: COLOURS };

async function parked(
  { tasks }: RunningService,
  more: Parameters<typeof messageOf>[1] = {},
): Promise<Snapshot> {
  const snapshot = await sendUntilSettled(tasks, messageOf('go', more));
  expect(snapshot.status.state).toBe('input-required');
  return snapshot;
}

const pendingOf = ({ status }: Snapshot): readonly PendingAction[] =>
  status.state === 'input-required' ? status.pending : [];
const RED = { decision: 'answer', answer: 'red' } as const;

/** Returns the results of the last calls, as the model gets them. */
const results = (models: ScriptedModel) =>
  models.requests
    .at(-1)
    ?.conversation.findLast((step) => step.role === 'tool')
    ?.results.map(({ text, isError }) => ({ text, isError }));

/** Starts a task with a running tool that has asked a question. */
async function working(options: Parameters<typeof askingTool>[0], more: Partial<ServiceOptions> = {}) {
  const asking = askingTool(options);
  const service = await startScripted([CALLS_ASK], { tools: [asking.tool], ...more });
  const task = await parked(service);
  return { ...service, ...asking, task };
}

describe('a tool call that asks the person a question', () => {
  it.each([
    ['as it is', {}],
    ['with autoExecute', { settings: { autoExecute: true } }],
    ['when it may only look', { settings: { readOnly: true } }],
  ])(
    'R16 a question waits for a person, %s; the answer is the call’s result, and no tool runs',
    async (_how, more) => {
      const service = await startScripted([ASKS]);
      const task = await parked(service, more);
      expect(pendingOf(task)).toMatchObject([
        {
          tool: 'ask-person',
          title: 'Ask: Which colour?',
          reason: 'question',
          decisions: ['answer', 'deny'],
          preview: { type: 'question', text: 'Which colour?', choices: COLOURS },
        },
      ]);
      const after = await decideUntilSettled(service.tasks, task, { decision: 'answer', answer: 'blue' });
      expect(after.status.state).toBe('completed');
      expect(results(service.models)).toEqual([{ text: 'blue', isError: false }]);
      expect(after.calls[pendingCall(task)]?.state).toEqual({
        type: 'settled',
        result: { type: 'answered', answer: 'blue', by: { principal: ADA, channel: 'test' } },
      });
      const types = (await eventsOf(service, task.taskId)).map(({ type }) => type);
      expect(types).not.toContain('tool.started');
    },
  );

  it('a person can decline a question with a reason, and the model gets the reason', async () => {
    const service = await startScripted([ASKS]);
    const task = await parked(service);
    await decideUntilSettled(service.tasks, task, { decision: 'deny', reason: 'you choose' });
    expect(results(service.models)).toEqual([
      { text: 'The person declined to answer. Reason: you choose', isError: true },
    ]);
  });

  it.each([
    ['an approval', { decision: 'approve' as const }, /is a question, and "approve" does not answer it/],
    ['a trust', { decision: 'approve' as const, scope: 'always' as const }, /does not answer it/],
    [
      'no choice',
      { ...RED, answer: 'green' },
      /"green" is not one of its choices\. The choices are "red", "blue"/,
    ],
    ['two of one', { ...RED, answer: ['red', 'blue'] }, /only one/],
    ['a form', { ...RED, answer: { colour: 'red' } }, /not a form/],
    ['a scope', { ...RED, scope: 'tool' as const }, /applies only to its question/],
    ['another hash', { ...RED, shown: 'x' }, /is not what was shown/],
  ])(
    'D1 a decision with %s does not answer a question, and the question still waits',
    async (_what, decision, message) => {
      const service = await startScripted([ASKS]);
      const task = await parked(service);
      await expect(service.tasks.send(decisionMessage(task, decision))).rejects.toMatchObject({
        message: expect.stringMatching(message),
      });
      expect(await service.tasks.snapshot(task.taskId, { principal: ADA })).toEqual(task);
    },
  );

  it('D1 the server refuses an answer to a call that waits for an approval', async () => {
    const service = await startScripted([
      { calls: [{ tool: 'write-file', input: { path: 'a', content: 'x' } }] },
    ]);
    const task = await parked(service);
    await expect(service.tasks.send(decisionMessage(task, RED))).rejects.toMatchObject({
      reason: 'INVALID_DECISION',
      message: expect.stringContaining('is not a question'),
    });
  });

  it('the next text of a client without extensions answers the question, with any words', async () => {
    const question = { calls: [{ tool: 'ask-person', input: { question: 'What do you say?' } }] };
    const service = await startScripted([question]);
    const task = await parked(service);
    const reply = messageOf('deny', { taskId: task.taskId, wordsDecide: true });
    await sendUntilSettled(service.tasks, reply);
    expect(results(service.models)).toEqual([{ text: 'deny', isError: false }]);
  });

  it('a text that is not one of the choices does not answer a question, and the error lists the choices', async () => {
    const service = await startScripted([ASKS]);
    const { taskId } = await parked(service);
    await expect(service.tasks.send(messageOf('green', { taskId, wordsDecide: true }))).rejects.toMatchObject(
      {
        reason: 'INVALID_DECISION',
        message: expect.stringContaining('"red", "blue"'),
      },
    );
    await sendUntilSettled(service.tasks, messageOf(' red ', { taskId, wordsDecide: true }));
    expect(results(service.models)).toEqual([{ text: 'red', isError: false }]);
  });

  it('R03 a question and a call that waits for an approval are decided separately; no call of the turn runs before both decisions', async () => {
    const write = { tool: 'write-file', input: { path: 'a', content: 'x' } };
    const service = await startScripted([{ calls: [...ASKS.calls, write] }]);
    const task = await parked(service);
    const [question, approval] = pendingOf(task);
    const { taskId } = task;
    await service.tasks.send(decisionMessage(task, { callId: approval?.callId ?? '', decision: 'approve' }));
    const still = await service.tasks.snapshot(taskId, { principal: ADA });
    expect(pendingOf(still)).toMatchObject([{ callId: question?.callId, reason: 'question' }]);
    expect(still.calls[approval?.callId ?? '']?.state.type).toBe('ready');
    await decideUntilSettled(service.tasks, still, RED);
    expect(results(service.models)).toMatchObject([{ text: 'red' }, { isError: false }]);
  });

  it('R16 R20 a question still waits after a restart, and the person can answer it then', async () => {
    const first = await startScripted([ASKS]);
    const task = await parked(first);
    const next = await first.restart();
    expect(await next.tasks.recover()).toBe(0);
    await decideUntilSettled(next.tasks, task, RED);
    expect(results(first.models)).toEqual([{ text: 'red', isError: false }]);
  });
});

describe('a question that a running tool asks', () => {
  it('R16 E1 a question of a running tool becomes a pending action, the task waits, and the tool continues with the answer', async () => {
    const on = await working({ asks: [WHICH] });
    const [action] = pendingOf(on.task);
    expect(action).toMatchObject({
      callId: expect.stringMatching(/^call-\w+\.q1$/),
      tool: 'inquire',
      title: 'Which colour?',
      reason: 'question',
      decisions: ['answer', 'deny'],
    });
    expect(on.tasks.executing()).toBe(1);
    const { taskId } = on.task;
    const after = await decideUntilSettled(on.tasks, on.task, RED);
    expect(after.status.state).toBe('completed');
    expect(on.heard).toEqual([{ type: 'answered', answer: 'red', by: { principal: ADA, channel: 'test' } }]);
    expect(results(on.models)).toEqual([{ text: 'Told "red".', isError: false }]);
    const types = (await eventsOf(on, taskId, 'ended')).map(({ type }) => type);
    expect(types.filter((type) => type === 'tool.started')).toHaveLength(1);
    // The execution ends shortly after the event that ends the task.
    await untilIdle(on.tasks);
  });

  it('a person can decline a question of a running tool, and the tool gets the reason', async () => {
    const on = await working({ asks: [WHICH] });
    await decideUntilSettled(on.tasks, on.task, { decision: 'deny', reason: 'no colour' });
    expect(on.heard).toEqual([{ type: 'declined', reason: 'no colour' }]);
  });

  it('D3 if a tool asks two questions, the person can answer one while the other still waits', async () => {
    const on = await working({ asks: [WHICH, { text: 'Why?' }] });
    const { taskId } = on.task;
    const seen = await until(on, taskId, (s) => pendingOf(s).length === 2);
    const [, why] = pendingOf(seen);
    await on.tasks.send(decisionMessage(seen, RED));
    expect(pendingOf(await on.tasks.snapshot(taskId, { principal: ADA }))).toMatchObject([
      { callId: why?.callId },
    ]);
    const last = decisionMessage(seen, { callId: why?.callId ?? '', decision: 'answer', answer: 'because' });
    await sendUntilSettled(on.tasks, last);
    expect(results(on.models)).toEqual([{ text: 'Told "red" and "because".', isError: false }]);
  });

  it('the answer to a form contains its values, and the server checks them', async () => {
    const properties = { name: { type: 'string' as const }, age: { type: 'integer' as const, minimum: 0 } };
    const schema = { type: 'object' as const, properties, required: ['name'] };
    const on = await working({ asks: [{ text: 'Who are you?', schema }] });
    const answer = (value: Record<string, unknown> | string) =>
      on.tasks.send(decisionMessage(on.task, { decision: 'answer', answer: value }));
    for (const wrong of [{}, { name: 1 }, { name: 'Ada', age: -1 }, { name: 'Ada', more: 1 }, 'Ada', '[]'])
      await expect(answer(wrong)).rejects.toMatchObject({ reason: 'INVALID_DECISION' });
    await untilSettled(on.tasks, await answer('{"name": "Ada", "age": 36}'));
    expect(on.heard).toMatchObject([{ answer: { name: 'Ada', age: 36 } }]);
  });

  it('while a question of a running tool waits, the time limits of tool, turn and task and the budget are paused', async () => {
    const limits = { toolMs: 50_000, turnMs: 50_000, taskMs: 50_000 };
    const on = await working({ asks: [WHICH] }, { limits, budget: { activeMs: 50_000 } });
    on.clock.advance(3_600_000);
    const after = await decideUntilSettled(on.tasks, on.task, RED);
    expect(after.status.state).toBe('completed');
    expect(after.spent.activeMs).toBe(0);
  });

  it('after the answer to a question of a running tool, the time limits run again', async () => {
    let answered: (() => void) | undefined;
    const goesOn = new Promise<void>((resolve) => (answered = resolve));
    const last = async ({ signal }: { signal: AbortSignal }) => {
      answered?.();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('late'))));
    };
    const on = await working({ asks: [WHICH], timeoutMs: 10_000, last });
    on.clock.advance(60_000);
    const accepted = await on.tasks.send(decisionMessage(on.task, RED));
    await goesOn;
    on.clock.advance(10_000);
    await untilSettled(on.tasks, accepted);
    expect(results(on.models)).toMatchObject([{ text: expect.stringContaining('its time limit of 10 s') }]);
  });

  it('A1 an abort of the tool withdraws its question, and the turn continues', async () => {
    const on = await working({ asks: [WHICH] });
    const { taskId } = on.task;
    const toolId = on.tasks.running()[0]?.toolId ?? '';
    expect(await on.tasks.abortTool(toolId, { principal: ADA }, 'never mind')).toMatchObject({
      success: true,
    });
    const after = await until(on, taskId, ({ status }) => status.state === 'completed');
    expect((await eventsOf(on, taskId, 'ended')).map(({ type }) => type)).toContain('tool.withdrew');
    expect(on.heard).toEqual(['rejected']);
    expect(after.calls[pendingCall(on.task)]?.state).toEqual({
      type: 'settled',
      result: { type: 'withdrawn' },
    });
  });

  it('a tool that aborts its question withdraws it, and continues without an answer', async () => {
    const letGo = new AbortController();
    const on = await working({ asks: [WHICH], signal: letGo.signal });
    letGo.abort();
    const after = await until(on, on.task.taskId, ({ status }) => status.state === 'completed');
    expect(after.calls[pendingCall(on.task)]?.state).toEqual({
      type: 'settled',
      result: { type: 'withdrawn' },
    });
    expect(results(on.models)).toMatchObject([{ isError: true }]);
  });

  it('A4 a cancel of the task stops the tool that asks', async () => {
    const on = await working({ asks: [WHICH] });
    await on.tasks.cancel(on.task.taskId, { principal: ADA, channel: 'test' }, 'enough');
    await until(on, on.task.taskId, () => on.tasks.executing() === 0);
    expect(on.heard).toEqual(['rejected']);
    expect(on.tasks.running()).toEqual([]);
  });

  it('R14 if nobody answers a question in time, the task ends and its tool stops', async () => {
    const on = await working(
      { asks: [WHICH] },
      { maintenance: { expiry: { decisionMs: 1000, idleMs: null } } },
    );
    await on.tasks.recover();
    await on.tasks.maintenanceIdle();
    on.clock.advance(1000);
    await on.tasks.maintenanceIdle();
    await until(on, on.task.taskId, () => on.tasks.executing() === 0);
    expect((await on.tasks.snapshot(on.task.taskId, { principal: ADA })).status.state).toBe('canceled');
    expect(on.heard).toEqual(['rejected']);
  });

  it('R14 the other running tools stop with the task too', async () => {
    const beside = askingTool({
      asks: [],
      last: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    });
    const look = { ...beside.tool, name: 'look' };
    const asking = askingTool({ asks: [WHICH] });
    const service = await startScripted([{ calls: [...CALLS_ASK.calls, { tool: 'look', input: {} }] }], {
      tools: [asking.tool, look],
      maintenance: { expiry: { decisionMs: 1000, idleMs: null } },
    });
    await service.tasks.recover();
    await service.tasks.maintenanceIdle();
    const { taskId } = await parked(service);
    await until(service, taskId, () => service.tasks.running().length === 2);
    service.clock.advance(1000);
    await service.tasks.maintenanceIdle();
    await until(service, taskId, () => service.tasks.executing() === 0);
    expect(service.tasks.running()).toEqual([]);
  });

  it('while other tools run, the task stays in "input-required", also for later subscribers', async () => {
    let speak: ((text: string) => void) | undefined;
    const on = await working({ asks: [WHICH], first: ({ output }) => (speak = output) });
    const { taskId, seq } = on.task;
    const { signal } = new AbortController();
    const reader = on.tasks.follow(taskId, seq, { until: 'ended', signal });
    speak?.('still here\n');
    const { value } = await reader.next();
    expect(value).toMatchObject([
      { event: { type: 'tool.output', text: 'still here\n' } },
      { event: { type: 'input.required', pending: [{ callId: pendingCall(on.task) }] } },
    ]);
    await reader.return();
  });

  it.each([
    ['with side effects asks a person whether it runs again', 'other' as const, 'input-required'],
    ['without side effects runs again', 'none' as const, 'input-required'],
  ])(
    'E2 a question of a running tool stays pending when the server ends; after the answer, a tool %s',
    async (_what, sideEffect, state) => {
      const asking = askingTool({ asks: [WHICH], sideEffect });
      const first = await startScripted([CALLS_ASK], { tools: [asking.tool] });
      const task = await parked(first, { settings: { autoExecute: true } });
      const next = await first.restart();
      expect(asking.heard).toEqual(['rejected']);
      expect(await next.tasks.recover()).toBe(0);
      expect(pendingOf(await next.tasks.snapshot(task.taskId, { principal: ADA }))).toEqual(pendingOf(task));
      const after = await decideUntilSettled(next.tasks, task, RED);
      expect(after.status.state).toBe(state);
      expect(pendingOf(after)).toMatchObject(
        sideEffect === 'none'
          ? [{ callId: expect.stringMatching(/\.q2$/), reason: 'question' }]
          : [{ reason: 'outcome-unknown', decisions: ['approve', 'deny'] }],
      );
    },
  );
});

/** Waits until `is` returns true for the task. Returns the task's snapshot. */
async function until(
  { tasks }: RunningService,
  taskId: string,
  is: (snapshot: Snapshot) => boolean,
): Promise<Snapshot> {
  for (;;) {
    const snapshot = await tasks.snapshot(taskId, { principal: ADA });
    if (is(snapshot)) return snapshot;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
