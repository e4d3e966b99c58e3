/** Tests a decision whose call starts late, so that the decision is recorded before the start. */
import { describe, expect, it } from '@jest/globals';
import { waitingCalls } from '../../../a2a-server/task/snapshot.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { ScriptedModel } from '../../support/scripted-model.ts';
import {
  ADA,
  decisionMessage,
  messageOf,
  startTaskService,
  untilIdle,
  sendUntilSettled,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('an approved call that does not start within the time limit', () => {
  it('E3 R01 runs, although its execution loads the task before the decision is in the journal', async () => {
    const clock = new FakeClock();
    const model = new ScriptedModel([
      { calls: [{ tool: 'write-file', input: { path: 'a.txt', content: 'x' } }] },
      { text: 'Done.' },
    ]);
    let slow = false;
    const { tasks } = await startTaskService({
      stateDir: await temporaryDirectory(),
      workspace: await temporaryDirectory(),
      models: model,
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
    const callId = waitingCalls(waiting)[0]?.callId ?? '';
    await tasks.send(decisionMessage(waiting, { callId, decision: 'approve' }));
    await untilIdle(tasks);
    const { status } = await tasks.snapshot(waiting.taskId, { principal: ADA });
    expect(status).toEqual({ state: 'completed' });
  });
});
