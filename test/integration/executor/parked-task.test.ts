/** Tests that a waiting task uses no resources of the process. Its whole state is in the journal. */
import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelsOf } from '../../support/model-settings.ts';
import {
  ADA,
  decideUntilSettled,
  decisionMessage,
  messageOf,
  pendingCall,
  sendUntilSettled,
  startTaskService,
  untilIdle,
  type RunningService,
} from '../../support/task-service.ts';

const APPEND = 'append "once" to effects.txt';

/** Starts a process with one task that waits for a person. */
async function parkedTask() {
  const service = await startTaskService({ models: modelsOf() });
  const parked = await sendUntilSettled(service.tasks, messageOf(APPEND));
  const effects = (): Promise<string> => readFile(join(service.workspace, 'effects.txt'), 'utf8');
  return { service, parked, effects };
}

/** Checks that the process has no execution, tool or timer of any task. The last steps may still need a moment. */
async function expectIdle({ tasks, clock, failures }: RunningService): Promise<void> {
  await untilIdle(tasks);
  expect([clock.pending, tasks.running(), failures]).toEqual([0, [], []]);
}

describe('a task that waits for a person', () => {
  it.each([
    { later: '0.3 s', ms: 300 },
    { later: '6 s', ms: 6_000 },
    { later: '10 min', ms: 600_000 },
    { later: '10 days', ms: 864_000_000 },
  ])(
    'R01 a process that knows only the journal gets the approval $later later, and the waiting call runs exactly once',
    async ({ ms }) => {
      const { service: first, parked, effects } = await parkedTask();
      await expectIdle(first);
      await first.stop();

      first.clock.advance(ms / 2);
      const second = await first.restart();
      const { tasks, clock } = second;
      expect(await tasks.recover()).toBe(0);
      clock.advance(ms / 2);
      expect(await tasks.snapshot(parked.taskId, { principal: ADA })).toEqual(parked);
      await expectIdle(second);
      const done = await decideUntilSettled(tasks, parked);
      expect(done.status.state).toBe('completed');
      expect(done.calls[pendingCall(parked)]).toMatchObject({
        state: { type: 'settled', result: { outcome: { type: 'ok' } } },
        decided: { decision: 'approve', at: clock.now(), by: { principal: ADA, channel: 'test' } },
      });
      expect(await effects()).toBe('once');
      await expect(tasks.send(decisionMessage(parked, { decision: 'approve' }))).rejects.toMatchObject({
        reason: 'ALREADY_DECIDED',
      });
      await expectIdle(second);
      expect(await effects()).toBe('once');
    },
  );

  it('R01 ten minutes after the question, the approval creates a new abort scope in the same process, and the call runs once', async () => {
    const { service, parked, effects } = await parkedTask();
    service.clock.advance(600_000);
    const done = await decideUntilSettled(service.tasks, parked);
    expect(done.status.state).toBe('completed');
    expect(await effects()).toBe('once');
    await expectIdle(service);
  });
});
