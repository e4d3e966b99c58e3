/** Tests a message that meets another command at the same moment: a copy of itself, or the end of its task. */
import { describe, expect, it } from '@jest/globals';
import { waitingCalls } from '../../../a2a-server/task/snapshot.ts';
import { ScriptedModel } from '../../support/scripted-model.ts';
import {
  ADA,
  decisionMessage,
  messageOf,
  untilSettled,
  startTaskService,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function fresh() {
  return { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
}

describe('a message that a client sends twice at once', () => {
  it.each(['approve', 'deny', 'edit'] as const)(
    'R27 a message with the decision %s that a client sends twice at once is accepted each time, as one message',
    async (word) => {
      const model = new ScriptedModel([
        { calls: [{ tool: 'write-file', input: { path: 'a.txt', content: 'theirs' } }] },
      ]);
      const { tasks } = await startTaskService({ ...(await fresh()), models: model });
      const parked = await untilSettled(tasks, await tasks.send(messageOf('write')));
      const callId = waitingCalls(parked)[0]?.callId ?? '';
      const decision = decisionMessage(parked, {
        callId,
        decision: word,
        ...(word === 'edit' && { content: 'mine' }),
      });
      const [first, ...again] = await Promise.all([1, 2, 3].map(() => tasks.send(decision)));
      const accepted = { taskId: first?.taskId, sessionId: first?.sessionId, seq: first?.seq };
      expect(again).toMatchObject([accepted, accepted]);
    },
  );
});

describe('a message to a session', () => {
  it('R04 if the current task ends as a message arrives, the message starts the session’s next task', async () => {
    const model = new ScriptedModel([{ text: 'One.' }]);
    const { tasks } = await startTaskService({ ...(await fresh()), models: model });
    const { taskId, sessionId } = await tasks.send(messageOf('one'));
    const [second] = await Promise.all([
      tasks.send(messageOf('two', { sessionId })),
      tasks.cancel(taskId, { principal: 'ada', channel: 'test' }, 'no more'),
    ]);
    expect(second).toMatchObject({ sessionId });
    expect(second.taskId).not.toBe(taskId);
  });

  it('a message that names the ended task is refused', async () => {
    const { tasks } = await startTaskService({ ...(await fresh()), models: new ScriptedModel([{}]) });
    const first = await tasks.send(messageOf('one'));
    await untilSettled(tasks, first);
    await expect(tasks.send(messageOf('two', { taskId: first.taskId }))).rejects.toMatchObject({
      reason: 'TASK_ENDED',
    });
    const late = decisionMessage(await tasks.snapshot(first.taskId, { principal: ADA }), {
      callId: 'call-1',
      decision: 'approve',
    });
    const { taskId: _task, ...toSession } = { ...late, sessionId: first.sessionId };
    await expect(tasks.send(toSession)).rejects.toMatchObject({ reason: 'UNKNOWN_CALL' });
  });
});
