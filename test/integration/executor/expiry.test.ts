/** Tests that a waiting task expires at its deadline, and that an active task has no deadline. */
import { describe, expect, it } from '@jest/globals';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import type { ScriptedTurn } from '../../support/scripted-model.ts';
import {
  ADA,
  decisionMessage,
  eventsOf,
  messageOf,
  sendUntilSettled,
  startScripted,
  type RunningService,
} from '../../support/task-service.ts';

const DAY = 86_400_000;
const WRITE = { tool: 'write-file', input: { path: 'a.txt', content: 'x' } };
const MINUTE = 60_000;
const APPROVE = { decision: 'approve' } as const;

async function started(turns: ScriptedTurn[], decisionMs = 7 * DAY): Promise<RunningService> {
  const service = await startScripted(turns, { maintenance: { expiry: { decisionMs, idleMs: null } } });
  await service.tasks.recover();
  await service.tasks.maintenanceIdle();
  return service;
}

async function parked({ tasks }: RunningService): Promise<Snapshot> {
  const snapshot = await sendUntilSettled(tasks, messageOf('go'));
  expect(snapshot.status.state).toBe('input-required');
  return snapshot;
}

/** Advances the clock, and waits for the timers that are due. */
async function pass({ clock, tasks }: RunningService, ms: number): Promise<void> {
  clock.advance(ms);
  await tasks.maintenanceIdle();
  // The maintenance has set its timer again, for now. This call runs that timer too.
  clock.advance(0);
  await tasks.maintenanceIdle();
}

const stateOf = async ({ tasks }: RunningService, { taskId }: Snapshot) =>
  (await tasks.snapshot(taskId, { principal: ADA })).status;

describe('a task that waits for a decision', () => {
  it('R14 a waiting task expires on time with an event that contains the reason, and subscribers get the event', async () => {
    const service = await started([{ calls: [WRITE] }]);
    const task = await parked(service);
    const { signal } = new AbortController();
    const reader = service.tasks.follow(task.taskId, task.seq, { until: 'ended', signal });
    const told = reader.next();
    await pass(service, 7 * DAY - 1);
    expect((await stateOf(service, task)).state).toBe('input-required');
    await pass(service, 1);
    expect((await told).value).toMatchObject([
      {
        seq: task.seq + 1,
        event: {
          type: 'task.canceled',
          reason: 'No one decided before 2026-01-08 00:00 UTC: Write a.txt.',
          by: { principal: 'server', channel: 'expiry' },
        },
      },
    ]);
    await expect(service.tasks.send(decisionMessage(task, APPROVE))).rejects.toMatchObject({
      reason: 'TASK_ENDED',
    });
    const next = messageOf('again', { sessionId: task.sessionId });
    expect((await sendUntilSettled(service.tasks, next)).status.state).toBe('completed');
    expect(service.failures).toEqual([]);
  });

  it('R14 a waiting task expires exactly at its deadline, even if the timer fires later', async () => {
    const service = await started([{ calls: [WRITE] }], MINUTE);
    const task = await parked(service);
    service.clock.advance(MINUTE - 1);
    await service.tasks.maintenanceIdle();
    expect((await stateOf(service, task)).state).toBe('input-required');
    service.clock.advance(1);
    await service.tasks.maintenanceIdle();
    expect((await stateOf(service, task)).state).toBe('canceled');
  });

  it('R14 a task whose deadline passed while the server was down expires at the start; a clock that is set back does not reopen it', async () => {
    const first = await started([{ calls: [WRITE] }]);
    const task = await parked(first);
    await first.stop();
    first.clock.advance(30 * DAY);
    const second = await first.restart();
    await second.tasks.recover();
    await second.tasks.maintenanceIdle();
    expect((await stateOf(second, task)).state).toBe('canceled');
    second.clock.advance(-60 * DAY);
    await pass(second, 0);
    await expect(second.tasks.send(decisionMessage(task, APPROVE))).rejects.toMatchObject({
      reason: 'TASK_ENDED',
    });
    expect((await stateOf(second, task)).state).toBe('canceled');
  });

  it('R14 if an approval and the deadline meet, the waiting task is either approved or expired', async () => {
    for (const decideFirst of [true, false]) {
      const service = await started([{ calls: [WRITE] }, { text: 'Done.' }]);
      const task = await parked(service);
      const approve = () =>
        service.tasks.send(decisionMessage(task, APPROVE)).then(
          () => true,
          () => false,
        );
      service.clock.advance(7 * DAY - 3_600_000);
      await service.tasks.maintenanceIdle();
      const early = decideFirst ? approve() : undefined;
      service.clock.advance(3_600_000);
      const approved = await (early ?? approve());
      await service.tasks.maintenanceIdle();
      const events = (await eventsOf(service, task.taskId, 'ended')).map(({ type }) => type);
      expect((await stateOf(service, task)).state).toBe(approved ? 'completed' : 'canceled');
      expect(events.includes('tool.started')).toBe(approved);
      expect(events.includes('task.canceled')).toBe(!approved);
    }
  });

  it('R14 all waiting tasks share one timer, and all due tasks expire together', async () => {
    const service = await started(Array.from({ length: 250 }, () => ({ calls: [WRITE] })));
    const early: Snapshot[] = [];
    for (let i = 0; i < 125; i += 1) early.push(await parked(service));
    service.clock.advance(DAY);
    await service.tasks.maintenanceIdle();
    const late: Snapshot[] = [];
    for (let i = 0; i < 125; i += 1) late.push(await parked(service));
    expect(service.clock.pending).toBe(1);
    await pass(service, 6 * DAY);
    const states = async (tasks: Snapshot[]) =>
      new Set(await Promise.all(tasks.map(async (task) => (await stateOf(service, task)).state)));
    expect([await states(early), await states(late)]).toEqual([
      new Set(['canceled']),
      new Set(['input-required']),
    ]);
    expect(service.clock.pending).toBe(1);
  });
});

describe('an active task', () => {
  it('R14 an active task never expires, even if its model needs a very long time', async () => {
    const service = await started([
      { calls: [WRITE] },
      { text: 'Thinking.', until: new Promise(() => undefined) },
    ]);
    const task = await parked(service);
    await service.tasks.send(decisionMessage(task, APPROVE));
    await pass(service, 400 * DAY);
    expect((await stateOf(service, task)).state).toBe('working');
  });
});
