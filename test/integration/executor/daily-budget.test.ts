/**
 * Tests the daily budget with a real service and journal, and a fake clock. Each turn of the model costs 2 US
 * dollars.
 */
import { expect, it } from '@jest/globals';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { lookTool } from '../../support/look-tool.ts';
import { ScriptedModel, type ScriptedTurn } from '../../support/scripted-model.ts';
import {
  ADA,
  commandMessage,
  messageOf,
  untilSettled,
  startTaskService,
  type RunningService,
  sendUntilSettled,
} from '../../support/task-service.ts';

const DAY_MS = 86_400_000;
const PRICE = { input: 500_000, output: 1_500_000 };
const LOOK: ScriptedTurn = { calls: [{ tool: 'look', input: {} }] };

/** Starts a service whose model plays these turns. The daily budget is 5 US dollars. */
async function start(...turns: ScriptedTurn[]) {
  const models = new ScriptedModel(turns, { price: PRICE });
  return { ...(await startTaskService({ models, tools: [lookTool()], dailyBudget: 5 })), models };
}

async function send(
  { tasks }: RunningService,
  text: string,
  to: { taskId?: string } = {},
): Promise<Snapshot> {
  return sendUntilSettled(tasks, messageOf(text, to));
}

it('at the daily budget, every task asks the person, and a reply allows the same amount again', async () => {
  const turns = [LOOK, LOOK, LOOK, { text: 'One.' }, LOOK, LOOK, { text: 'Two.' }];
  const { models, ...service } = await start(...turns);
  const first = await send(service, 'look around');
  expect(first.status).toMatchObject({
    state: 'input-required',
    question: expect.stringContaining('Your tasks have cost 6.00 US dollars today (2026-01-01, UTC).'),
    dayCost: { usd: 6 },
  });
  expect(models.requests).toHaveLength(3);
  const second = await send(service, 'another task');
  expect([second.status.state, models.requests.length]).toEqual(['input-required', 3]);
  // The limit is now 6 + 5, and this turn costs 2.
  const { taskId } = first;
  expect((await send(service, 'go on', { taskId })).status).toEqual({ state: 'completed' });
  // The second question asked about the same 6 dollars. So its answer does not raise the limit again.
  const more = await send(service, 'you too', { taskId: second.taskId });
  expect(more.status).toMatchObject({ state: 'input-required', dayCost: { usd: 12 } });
  expect(await service.tasks.costs(ADA, 1)).toMatchObject({
    total: { usd: 12, requests: 6 },
    dailyBudget: { usd: 5, limitUsd: 11, spentUsd: 12 },
  });
  expect((await send(service, 'once more', { taskId: second.taskId })).status.state).toBe('completed');
});

it('X1 a sender without the role approve cannot extend the daily budget', async () => {
  const service = await start(LOOK, LOOK, LOOK, { text: 'Done.' });
  const { taskId } = await send(service, 'look around');
  const reply = messageOf('go on', { taskId, mayApprove: false });
  await expect(service.tasks.send(reply)).rejects.toMatchObject({ reason: 'FORBIDDEN' });
  expect((await service.tasks.costs(ADA, 1)).dailyBudget).toMatchObject({ limitUsd: 5 });
  expect((await send(service, 'go on', { taskId })).status.state).toBe('completed');
});

it('the daily budget survives a restart, and a new one starts at midnight UTC', async () => {
  const { models, ...one } = await start(LOOK, LOOK, LOOK, { text: 'Done.' });
  const asked = await send(one, 'look around');
  expect(asked.status).toMatchObject({ dayCost: { usd: 6 } });
  const two = await one.restart();
  expect((await send(two, 'a new task')).status.state).toBe('input-required');
  expect((await send(two, 'go on', { taskId: asked.taskId })).status.state).toBe('completed');
  models.add(LOOK, LOOK, { text: 'Done.' });
  const three = await two.restart();
  // The answer on the last server counts: the limit is 11, and two more turns fit.
  expect((await send(three, 'a third task')).status).toMatchObject({ dayCost: { usd: 12 } });
  three.clock.advance(DAY_MS);
  expect((await send(three, 'the next day')).status.state).toBe('completed');
});

it('the daily budget applies to one principal: the tasks of other principals continue', async () => {
  const service = await start(LOOK, LOOK, LOOK);
  await send(service, 'look around');
  const accepted = await service.tasks.send(messageOf('mine', { principal: 'bob' }));
  expect((await untilSettled(service.tasks, accepted, 'bob')).status.state).toBe('completed');
});

it('the daily budget never stops a task without cost: one with a model without a price, or a command', async () => {
  const first = await start(LOOK, LOOK, LOOK);
  expect((await send(first, 'look around')).status.state).toBe('input-required');
  const list = commandMessage('checkpoint list', []);
  expect((await sendUntilSettled(first.tasks, list)).status.state).toBe('completed');
  const second = await first.restart({ models: new ScriptedModel([LOOK, { text: 'Done.' }]) });
  expect((await send(second, 'look for free')).status.state).toBe('completed');
});

it('a "deny" of a text-only client does not raise the daily budget: the reply says how to end the task', async () => {
  const service = await start(LOOK, LOOK, LOOK);
  const { taskId } = await send(service, 'look around');
  await expect(service.tasks.send(messageOf('deny', { taskId, wordsDecide: true }))).rejects.toMatchObject({
    reason: 'DECISION_NEEDED',
    message: expect.stringContaining('Cancel the task'),
  });
  expect((await service.tasks.costs(ADA, 1)).dailyBudget).toEqual({ usd: 5, limitUsd: 5, spentUsd: 6 });
});
