/** Tests tasks whose events are damaged in the journal: how they end, and that they stop no other work. */
import { beforeEach, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { openSqlite } from '../../../shared/sqlite/driver.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { append, plan, wait, write, type PlannedStep } from '../../support/offline-plan.ts';
import { modelsOf } from '../../support/model-settings.ts';
import {
  ADA,
  commandMessage,
  eventsUntil,
  messageOf,
  startTaskService,
  untilIdle,
  untilSettled,
  type RunningService,
  sendUntilSettled,
} from '../../support/task-service.ts';

const HOUR = 3_600_000;

let service: RunningService;

beforeEach(async () => {
  service = await startTaskService({
    models: modelsOf(),
    maintenance: { expiry: { decisionMs: HOUR, idleMs: HOUR }, retentionMs: 24 * HOUR },
  });
});

/** Restarts the service after one event of each of these tasks was overwritten. */
async function damaged(...taskIds: string[]): Promise<void> {
  await service.stop();
  const database = openSqlite(join(service.stateDir, 'journal.db'), { busyTimeoutMs: 1_000 });
  const damage = database.command(
    "UPDATE events SET body = '{' WHERE seq = 2 AND task = (SELECT key FROM tasks WHERE task_id = ?)",
  );
  for (const taskId of taskIds) expect(damage(taskId)).toBe(1);
  database.close();
  service = await service.restart();
}

const send = (step: PlannedStep, autoExecute = false): ReturnType<RunningService['tasks']['send']> =>
  service.tasks.send(messageOf(plan(step), { settings: { autoExecute } }));

async function waiting(): Promise<Snapshot> {
  const task = await untilSettled(service.tasks, await send(write('a.txt', 'x')));
  expect(task.status.state).toBe('input-required');
  return task;
}

const ends = async (step: PlannedStep): Promise<Snapshot> =>
  untilSettled(service.tasks, await send(step, true));

/** Runs a command about checkpoints. Returns what the task says. */
async function run(...args: string[]): Promise<string> {
  const message = commandMessage('checkpoint', args, { settings: { workspace: service.workspace } });
  const { status, exchanges } = await sendUntilSettled(service.tasks, message);
  return JSON.stringify([status, exchanges]);
}

const stateOf = async (taskId: string): Promise<string> =>
  (await service.tasks.row(taskId, { principal: ADA })).state;

it('R28 a working task with damaged events fails, and is not tried again every five seconds', async () => {
  const { taskId } = await send(wait(60), true);
  await eventsUntil(service, taskId, 'tool.started');
  await damaged(taskId);
  await service.tasks.recover();
  await untilIdle(service.tasks);
  expect(await stateOf(taskId)).toBe('failed');
  expect(service.failures).toEqual([expect.objectContaining({ reason: 'STORAGE' })]);
  service.clock.advance(10_000);
  await untilIdle(service.tasks);
  expect(service.failures).toHaveLength(1);
});

it('A4 a waiting task with damaged events can be canceled once', async () => {
  const { taskId, sessionId } = await waiting();
  await damaged(taskId);
  const canceled = await service.tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'it is damaged');
  expect(canceled).toMatchObject({
    taskId,
    sessionId,
    status: { state: 'canceled', reason: 'it is damaged' },
  });
  expect(await stateOf(taskId)).toBe('canceled');
  await expect(
    service.tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'again'),
  ).rejects.toMatchObject({
    reason: 'TASK_ENDED',
  });
});

it('R14 a hundred damaged tasks expire, and old sessions are deleted', async () => {
  const old = await untilSettled(service.tasks, await send({ say: 'Done.' }));
  const first = await waiting();
  const ids = [first.taskId];
  while (ids.length < 100) ids.push((await waiting()).taskId);
  await damaged(...ids);
  service.clock.advance(25 * HOUR);
  await service.tasks.recover();
  await service.tasks.maintenanceIdle();
  expect(service.failures).toEqual([]);
  expect(await stateOf(first.taskId)).toBe('canceled');
  await expect(stateOf(old.taskId)).rejects.toMatchObject({ reason: 'UNKNOWN_TASK' });
});

it('a list leaves out a damaged task, and reports it once', async () => {
  const { taskId } = await waiting();
  await damaged(taskId);
  const row = { taskId, seq: Number.MAX_SAFE_INTEGER };
  expect(await service.tasks.listedSnapshot(row)).toBeUndefined();
  expect(await service.tasks.listedSnapshot(row)).toBeUndefined();
  expect(service.failures).toEqual([expect.objectContaining({ reason: 'STORAGE' })]);
});

it('checkpoints of readable tasks can be listed and restored beside a damaged task', async () => {
  const early = await ends(append('early.txt', 'one'));
  service.clock.advance(1_000);
  const lost = await ends(append('lost.txt', 'two'));
  service.clock.advance(1_000);
  const late = await ends(append('late.txt', 'three'));
  await damaged(lost.taskId);
  expect(await run('list')).toMatch(/late\.txt.*early\.txt.*1 task with damaged events is left out/);
  expect(await run('restore-since', `${late.taskId}.1`)).toContain('input-required');
  expect(await run('restore-since', `${early.taskId}.1`)).toMatch(
    new RegExp(`failed.*${lost.taskId} may have changed files`),
  );
});

it('a session whose last task is damaged goes on with the settings of that task', async () => {
  const { taskId, sessionId, settings } = await sendUntilSettled(
    service.tasks,
    messageOf(plan({ say: 'Done.' }), { settings: { readOnly: true } }),
  );
  await damaged(taskId);
  const next = await sendUntilSettled(service.tasks, messageOf(plan({ say: 'Again.' }), { sessionId }));
  expect(settings.readOnly).toBe(true);
  expect(next).toMatchObject({ sessionId, settings, status: { state: 'completed' } });
});
