import { describe, expect, it } from '@jest/globals';
import { foldNextEvents } from '../../../../a2a-server/task/fold.ts';
import { requestToolAbort } from '../../../../a2a-server/task/request-tool-abort.ts';
import { runningCalls } from '../../../../a2a-server/task/snapshot.ts';
import { taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
import { completed, toolStarted } from '../../../support/journal-samples.ts';
import { request } from '../../../support/task-machine.ts';

const ABORT = { toolId: 'tool-1', principal: 'ada', reason: 'enough' };
const requested = turnEventsWith([{ call: request('call', false), ask: false }]);
const running = taskAfter(...requested, toolStarted('tool-1'));
const startedAgain = foldNextEvents(running, [
  { type: 'tool.interrupted', callId: 'call', tool: 'wait', title: 'Wait', toolId: 'tool-1', rerun: true },
  toolStarted('tool-2'),
]);

describe('requestToolAbort', () => {
  it('asks once for the abort of a running tool execution', () => {
    const asked = requestToolAbort(running, ABORT);
    expect(asked).toEqual([{ type: 'abort.requested', callId: 'call', ...ABORT }]);
    const after = foldNextEvents(running, asked);
    expect(runningCalls(after).map(({ state }) => state.abort)).toEqual(['enough']);
    expect(requestToolAbort(after, { ...ABORT, reason: 'again' })).toEqual([]);
  });

  it('keeps a task whose tool has not started, has ended, or has started again', () => {
    expect(requestToolAbort(taskAfter(...requested), ABORT)).toEqual([]);
    expect(requestToolAbort(foldNextEvents(running, [completed]), { ...ABORT, toolId: 'other' })).toEqual([]);
    expect(requestToolAbort(startedAgain, ABORT)).toEqual([]);
  });

  it('a request for an earlier execution does not stop the next one', () => {
    const late = foldNextEvents(startedAgain, [{ type: 'abort.requested', callId: 'call', ...ABORT }]);
    expect(runningCalls(late).map(({ state }) => state.abort)).toEqual([undefined]);
  });
});
