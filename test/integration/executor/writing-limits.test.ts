/** Tests the limits of written events with a real service and journal, and a fake clock. */
import { expect, it } from '@jest/globals';
import type { ClientMessage } from '../../../a2a-server/executor/messages/client-message.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { lookTool } from '../../support/look-tool.ts';
import { ScriptedModel, type ScriptedTurn } from '../../support/scripted-model.ts';
import {
  decisionMessage,
  messageOf,
  type RunningService,
  startTaskService,
  untilSettled,
  sendUntilSettled,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const DAY_MS = 86_400_000;
const LONG = 'x'.repeat(700_000);
const LOOK: ScriptedTurn = { text: LONG, calls: [{ tool: 'look', input: {} }] };
const WRITE: ScriptedTurn = {
  calls: [{ tool: 'write-file', input: { path: 'a.txt', content: 'a' } }],
};
const look = lookTool();

const where = async () => ({ stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() });

async function send(
  { tasks }: RunningService,
  text: string,
  to: Partial<Pick<ClientMessage, 'taskId' | 'wordsDecide'>> = {},
): Promise<Snapshot> {
  return sendUntilSettled(tasks, messageOf(text, to));
}

it('a task that has written its limit fails between two turns, and its session continues', async () => {
  const models = new ScriptedModel([LOOK, LOOK]);
  const task = { events: 1_000, megabytes: 1 };
  const service = await startTaskService({
    ...(await where()),
    models,
    tools: [look],
    writingLimits: { task },
  });
  const { status, sessionId } = await send(service, 'look around');
  expect(status).toEqual({
    state: 'failed',
    message:
      'The model could not continue: its answer is longer than the limits of the server for written events allow. To continue, send another message in the session.',
  });
  expect(models.requests).toHaveLength(2);
  models.add({ text: 'Again.' });
  const next = await service.tasks.send(messageOf('go on', { sessionId }));
  expect((await untilSettled(service.tasks, next)).status.state).toBe('completed');
});

it('a task with too many events fails between two turns', async () => {
  const small: ScriptedTurn = { calls: [{ tool: 'look', input: {} }] };
  const models = new ScriptedModel([small, small, small, small]);
  const task = { events: 12, megabytes: 1 };
  const service = await startTaskService({
    ...(await where()),
    models,
    tools: [look],
    writingLimits: { task },
  });
  expect((await send(service, 'look around')).status).toMatchObject({
    state: 'failed',
    message: expect.stringContaining('The task has written 12 events, the limit of the server for one task.'),
  });
});

it('at a daily limit, a decision still counts, the task then asks, and messages are refused until midnight UTC', async () => {
  const at = await where();
  const models = new ScriptedModel([WRITE, { text: 'Done.' }]);
  const one = await startTaskService({ ...at, models });
  const waiting = await send(one, 'write');
  await one.stop();

  // The amounts survive the restart.
  const writingLimits = { dailyEvents: { principal: 5, server: 1_000 } };
  const two = await startTaskService({ ...at, models, writingLimits, clock: one.clock });
  const { taskId } = waiting;
  const [callId = ''] = Object.keys(waiting.calls);
  const decided = await two.tasks.send(decisionMessage(waiting, { callId, decision: 'approve' }));
  const asked = await untilSettled(two.tasks, decided);
  expect(asked.calls[callId]?.state).toMatchObject({ type: 'settled' });
  expect(asked.status).toMatchObject({
    state: 'input-required',
    question:
      'Your tasks have 5 events written today (UTC), the limit of the server. What this task did so far is kept. Reply after 2026-01-02 00:00 UTC to continue, or cancel the task.',
  });
  for (const to of [{}, { taskId }])
    await expect(two.tasks.send(messageOf('go on', to))).rejects.toMatchObject({
      reason: 'LIMIT_REACHED',
      facts: { limit: 'dailyEvents', scope: 'principal', most: '5', retryAfter: '86400' },
    });
  expect((await two.tasks.send(messageOf('mine', { principal: 'bob' }))).taskId).toBeDefined();
  two.clock.advance(DAY_MS);
  expect((await send(two, 'go on', { taskId })).status.state).toBe('completed');
});

it('a message at a daily limit counts as refused, but not the word "approve" that decides', async () => {
  const refused: string[] = [];
  const service = await startTaskService({
    ...(await where()),
    models: new ScriptedModel([WRITE, { text: 'Done.' }]),
    writingLimits: { dailyEvents: { principal: 5, server: 1_000 } },
    onRefused: (limit, scope) => refused.push(`${limit} of the ${scope}`),
  });
  const { taskId } = await send(service, 'write');
  await send(service, 'approve', { taskId, wordsDecide: true });
  expect(refused).toEqual([]);
  for (const to of [{}, { taskId }])
    await expect(service.tasks.send(messageOf('go on', to))).rejects.toMatchObject({
      reason: 'LIMIT_REACHED',
    });
  expect(refused).toEqual(['dailyEvents of the principal', 'dailyEvents of the principal']);
});
