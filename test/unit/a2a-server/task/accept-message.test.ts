import { describe, expect, it } from '@jest/globals';
import { acceptMessage } from '../../../../a2a-server/task/accept-message.ts';
import { decided, decision, says, waitingFor } from '../../../support/decided-task.ts';

describe('receive, which applies a person’s message', () => {
  it('R06 while calls wait, a message is refused, and the error says how to decide', () => {
    const refused = acceptMessage(waitingFor('a'), says('yes'), {
      channel: 'a2a',
      wordsDecide: true,
      taskId: 't',
    });
    expect(refused).toMatchObject({
      type: 'refuse',
      reason: 'DECISION_NEEDED',
      message: expect.stringContaining('Answer with exactly "approve" or "deny"'),
      facts: { pending: 'a' },
    });
  });

  it.each(['hello', 'approve'])(
    'R04 while the task works, %j is queued, and changes nothing else',
    (text) => {
      const working = decided(waitingFor('a'), decision('a'));
      expect(acceptMessage(working, says(text), { channel: 'a2a', wordsDecide: true })).toEqual([
        { type: 'message.received', message: says(text), channel: 'a2a' },
      ]);
    },
  );
});

describe('a message with a command', () => {
  it('a command to a task that has not ended is refused, because a command needs its own task', () => {
    const message = { ...says('init'), command: { command: 'init', args: [] } };
    const ruling = acceptMessage(waitingFor('a'), message, { channel: 'a2a', wordsDecide: true });
    expect(ruling).toMatchObject({ type: 'refuse', reason: 'SESSION_BUSY', facts: { taskId: 't' } });
  });
});
