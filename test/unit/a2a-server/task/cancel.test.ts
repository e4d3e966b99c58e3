import { describe, expect, it } from '@jest/globals';
import { cancelAfterDisconnect, cancelTask } from '../../../../a2a-server/task/cancel.ts';
import { foldNextEvents } from '../../../../a2a-server/task/fold.ts';
import { ADA, decided, decision, says, TOOL_STARTED, waitingFor } from '../../../support/decided-task.ts';

describe('the cancel of a task', () => {
  it('A1 the cancel records a running tool execution as stopped by the cancel, and then ends the task', () => {
    const running = foldNextEvents(decided(waitingFor('a'), decision('a')), [TOOL_STARTED]);
    const ruling = cancelTask(running, 'changed my mind', ADA);
    expect(ruling).toMatchObject([
      { type: 'tool.finished', toolId: 'x1', outcome: { type: 'stopped', reason: 'task-cancel' } },
      { type: 'task.canceled', reason: 'changed my mind', by: ADA },
    ]);
  });

  it('R50 the cancel of an ended task is refused and changes nothing', () => {
    const canceled = foldNextEvents(waitingFor('a'), [{ type: 'task.canceled', reason: 'x', by: ADA }]);
    expect(cancelTask(canceled, 'again', ADA)).toMatchObject({ type: 'refuse', reason: 'TASK_ENDED' });
  });

  it('cancelAfterDisconnect cancels a task that works, and keeps a task that waits or has ended', () => {
    const working = decided(waitingFor('a'), decision('a'));
    const ended = foldNextEvents(working, [{ type: 'task.canceled', reason: 'x', by: ADA }]);
    const left = { messageSeq: working.messageSeq, reason: 'gone' };
    expect(cancelAfterDisconnect(working, left, ADA)).toEqual(cancelTask(working, 'gone', ADA));
    for (const settled of [waitingFor('a'), ended])
      expect(cancelAfterDisconnect(settled, left, ADA)).toEqual([]);
  });

  it('cancelAfterDisconnect keeps a task that has a newer message than the client that left: someone has come back to it', () => {
    const working = decided(waitingFor('a'), decision('a'));
    const left = { messageSeq: working.messageSeq, reason: 'gone' };
    const again = foldNextEvents(working, [
      { type: 'message.received', message: says('go on'), channel: 'a2a' },
    ]);
    expect(cancelAfterDisconnect(again, left, ADA)).toEqual([]);
    expect(cancelAfterDisconnect(again, { ...left, messageSeq: again.messageSeq }, ADA)).toEqual(
      cancelTask(again, 'gone', ADA),
    );
  });
});
