import { describe, expect, it } from '@jest/globals';
import { newestMessage, type Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { TaskMachine } from '../../../support/task-machine.ts';

const message = (messageId: string) => ({ messageId, parts: [] });

describe('the message that the next turn answers', () => {
  const { snapshot } = new TaskMachine();
  const asked: Snapshot = {
    ...snapshot,
    exchanges: [
      { type: 'message', message: message('one') },
      { type: 'message', message: message('two') },
      {
        type: 'turn',
        turn: { turn: 1, model: 'm', text: '', artifacts: [], callIds: [], end: 'stop' },
      },
    ],
    queued: [],
  };

  it('the message is the last one, during all turns that follow it', () => {
    expect(newestMessage(asked)?.messageId).toBe('two');
  });

  it('the message is the last queued one, if one is queued: a message after a command is for the model (R04)', () => {
    const queued = [message('three'), message('four')];
    expect(newestMessage({ ...asked, queued })?.messageId).toBe('four');
  });
});
