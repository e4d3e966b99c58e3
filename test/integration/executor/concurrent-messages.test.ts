/** Tests a message that meets another command at the same moment: a copy of itself, or the end of its task. */
import { describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitingCalls } from '../../../a2a-server/task/snapshot.ts';
import {
  ADA,
  decisionMessage,
  eventsOf,
  messageOf,
  sendUntilSettled,
  startScripted,
} from '../../support/task-service.ts';

const writeCall = (path: string) => ({ tool: 'write-file', input: { path, content: 'x' } });

describe('a message that a client sends twice at once', () => {
  it.each(['approve', 'deny', 'edit'] as const)(
    'R27 a message with the decision %s that a client sends twice at once is accepted each time, as one message',
    async (word) => {
      const service = await startScripted([{ calls: [writeCall('a.txt')] }]);
      const { tasks } = service;
      const parked = await sendUntilSettled(tasks, messageOf('write'));
      const edited = word === 'edit' ? { content: 'mine' } : {};
      const decision = decisionMessage(parked, { decision: word, ...edited });
      const { taskId, sessionId } = parked;
      // A copy that arrives later gets the journal's end then. So each answer may have another `seq`.
      expect(await Promise.all([1, 2, 3].map(() => tasks.send(decision)))).toMatchObject(
        [1, 2, 3].map(() => ({ taskId, sessionId })),
      );
      const decided = (await eventsOf(service, taskId, 'ended')).filter(
        ({ type }) => type === 'tool.decided',
      );
      expect(decided).toHaveLength(1);
    },
  );
});

describe('two decisions that expect the same generation', () => {
  it('exactly one is accepted; the other learns the new generation, and a repetition of the first is no mismatch', async () => {
    const { tasks } = await startScripted([{ calls: [writeCall('a.txt'), writeCall('b.txt')] }]);
    const parked = await sendUntilSettled(tasks, messageOf('write'));
    const { taskId, counted } = parked;
    const expectedGeneration = { generation: counted.shown };
    // Without the generation, both would be accepted, because they decide different calls.
    const decisions = waitingCalls(parked).map(({ callId }) => ({
      ...decisionMessage(parked, { callId, decision: 'approve' }),
      expectedGeneration,
    }));
    const settled = await Promise.allSettled(decisions.map((decision) => tasks.send(decision)));
    expect(settled.filter(({ status }) => status === 'rejected')).toMatchObject([
      {
        reason: {
          reason: 'TASK_GENERATION_MISMATCH',
          facts: { taskId, expectedGeneration: String(counted.shown) },
        },
      },
    ]);
    const accepted = decisions[settled.findIndex(({ status }) => status === 'fulfilled')];
    if (accepted === undefined) throw new Error('no decision was accepted');
    // R27: the client missed the answer and repeats the message. The generation has changed since.
    expect(await tasks.send(accepted)).toMatchObject({ taskId });
    expect(waitingCalls(await tasks.snapshot(taskId, { principal: ADA }))).toHaveLength(1);
  });

  it('E3 D2 an edit of a file that has changed is refused for its generation first, and changes nothing', async () => {
    const { tasks, workspace } = await startScripted([{ calls: [writeCall('a.txt')] }]);
    const parked = await sendUntilSettled(tasks, messageOf('write'));
    await writeFile(join(workspace, 'a.txt'), 'changed');
    const decision = decisionMessage(parked, { decision: 'edit', content: 'mine' });
    const outdated = { ...decision, expectedGeneration: { generation: 1 } };
    await expect(tasks.send(outdated)).rejects.toMatchObject({ reason: 'TASK_GENERATION_MISMATCH' });
    expect(await tasks.snapshot(parked.taskId, { principal: ADA })).toEqual(parked);
    await expect(tasks.send(decision)).rejects.toMatchObject({ reason: 'INPUT_CHANGED' });
  });

  it('a message that starts a task ignores the generation', async () => {
    const { tasks } = await startScripted([{}]);
    await sendUntilSettled(tasks, messageOf('go', { expectedGeneration: { generation: 99 } }));
  });
});

describe('a message to a session', () => {
  it('R04 if the current task ends as a message arrives, the message starts the session’s next task', async () => {
    const { tasks } = await startScripted([{ text: 'One.' }]);
    const { taskId, sessionId } = await tasks.send(messageOf('one'));
    const [second] = await Promise.all([
      tasks.send(messageOf('two', { sessionId })),
      tasks.cancel(taskId, { principal: 'ada', channel: 'test' }, 'no more'),
    ]);
    expect(second).toMatchObject({ sessionId });
    expect(second.taskId).not.toBe(taskId);
  });

  it('a message that names the ended task is refused', async () => {
    const { tasks } = await startScripted([{}]);
    const first = await sendUntilSettled(tasks, messageOf('one'));
    await expect(tasks.send(messageOf('two', { taskId: first.taskId }))).rejects.toMatchObject({
      reason: 'TASK_ENDED',
    });
    const late = decisionMessage(first, { callId: 'call-1', decision: 'approve' });
    const { taskId: _task, ...toSession } = { ...late, sessionId: first.sessionId };
    await expect(tasks.send(toSession)).rejects.toMatchObject({ reason: 'UNKNOWN_CALL' });
  });
});
