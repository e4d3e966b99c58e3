/** Tests the limits of written events with a real service and journal, and a fake clock. */
import { expect, it } from '@jest/globals';
import type { ClientMessage } from '../../../a2a-server/executor/messages/client-message.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { lookTool } from '../../support/look-tool.ts';
import type { ScriptedTurn } from '../../support/scripted-model.ts';
import {
  decideUntilSettled,
  messageOf,
  pendingCall,
  sendUntilSettled,
  startScripted,
  type RunningService,
} from '../../support/task-service.ts';

const DAY_MS = 86_400_000;
const LONG = 'x'.repeat(700_000);
const LOOK: ScriptedTurn = { text: LONG, calls: [{ tool: 'look', input: {} }] };
const WRITE: ScriptedTurn = {
  calls: [{ tool: 'write-file', input: { path: 'a.txt', content: 'a' } }],
};
const tools = [lookTool()];

async function send(
  { tasks }: RunningService,
  text: string,
  to: Partial<Pick<ClientMessage, 'taskId' | 'wordsDecide'>> = {},
): Promise<Snapshot> {
  return sendUntilSettled(tasks, messageOf(text, to));
}

it('a task that has written its limit fails between two turns, and its session continues', async () => {
  const writingLimits = { task: { events: 1_000, megabytes: 1 } };
  const { models, ...service } = await startScripted([LOOK, LOOK], { tools, writingLimits });
  const { status, sessionId } = await send(service, 'look around');
  expect(status).toEqual({
    state: 'failed',
    message:
      'The model could not continue: its answer is longer than the limits of the server for written events allow. To continue, send another message in the session.',
  });
  expect(models.requests).toHaveLength(2);
  models.add({ text: 'Again.' });
  const next = messageOf('go on', { sessionId });
  expect((await sendUntilSettled(service.tasks, next)).status.state).toBe('completed');
});

it('a task with too many events fails between two turns', async () => {
  const small: ScriptedTurn = { calls: [{ tool: 'look', input: {} }] };
  const writingLimits = { task: { events: 12, megabytes: 1 } };
  const service = await startScripted([small, small, small, small], { tools, writingLimits });
  expect((await send(service, 'look around')).status).toMatchObject({
    state: 'failed',
    message: expect.stringContaining('The task has written 12 events, the limit of the server for one task.'),
  });
});

it('at a daily limit, a decision still counts, the task then asks, and messages are refused until midnight UTC', async () => {
  const one = await startScripted([WRITE, { text: 'Done.' }]);
  const waiting = await send(one, 'write');
  // The amounts survive the restart.
  const two = await one.restart({ writingLimits: { dailyEvents: { principal: 5, server: 1_000 } } });
  const { taskId } = waiting;
  const asked = await decideUntilSettled(two.tasks, waiting);
  expect(asked.calls[pendingCall(waiting)]?.state).toMatchObject({ type: 'settled' });
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
  const service = await startScripted([WRITE, { text: 'Done.' }], {
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
