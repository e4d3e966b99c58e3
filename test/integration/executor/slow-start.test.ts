/** Tests a decision whose call starts late, so that the decision is recorded before the start. */
import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../support/fake-clock.ts';
import {
  ADA,
  decisionMessage,
  messageOf,
  startScripted,
  untilIdle,
  sendUntilSettled,
} from '../../support/task-service.ts';

describe('an approved call that does not start within the time limit', () => {
  it('E3 R01 runs, although its execution loads the task before the decision is in the journal', async () => {
    const clock = new FakeClock();
    const calls = [{ tool: 'write-file', input: { path: 'a.txt', content: 'x' } }];
    let slow = false;
    const { tasks } = await startScripted([{ calls }, { text: 'Done.' }], {
      clock,
      children: {
        // The search for left processes takes so long that the server records the decision alone.
        endOrphans: async () => {
          if (slow) clock.advance(1_000);
          slow = false;
          return [];
        },
      },
    });
    const waiting = await sendUntilSettled(tasks, messageOf('go'));
    await untilIdle(tasks);
    slow = true;
    await tasks.send(decisionMessage(waiting, { decision: 'approve' }));
    await untilIdle(tasks);
    const { status } = await tasks.snapshot(waiting.taskId, { principal: ADA });
    expect(status).toEqual({ state: 'completed' });
  });
});
