import { expect, test } from '@jest/globals';
import { StreamResponse, TaskState } from '@a2a-js/sdk';
import { isLastTaskEvent, toMcpTaskEvent } from '../../../../../bridge/mcp/tasks/task-event.ts';
import { FakeTask, pendingWrite } from '../../../../support/fake-agent-task.ts';

const task = new FakeTask('task-1', 'session-1', true);
task.work().say('Hello').ask(pendingWrite('one'));
const at = { seq: 7, taskId: 'handle' };
const events = task.events.map(({ event }) => toMcpTaskEvent(event, at));

test('a task event has the envelope of SEP-2694, and the A2A event as its payload', () => {
  const [working, said] = events;
  const envelope = { ...at, _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'handle' } } };
  expect(working).toMatchObject({
    ...envelope,
    type: 'mcp-a2a-bridge.a2a.status-update',
    payload: { taskId: 'task-1', status: { state: 'TASK_STATE_WORKING' } },
  });
  expect(said).toMatchObject({
    ...envelope,
    type: 'mcp-a2a-bridge.a2a.artifact-update',
    payload: { artifact: { parts: [{ text: 'Hello' }] }, append: true },
  });
});

test('D2 D5 the event of a waiting task has no preview and no code, so nobody decides from it', () => {
  const waiting = task.events[2]?.event;
  expect(JSON.stringify(waiting && StreamResponse.toJSON(waiting))).toContain('hash-of-one');
  expect(events[2]?.payload).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
  expect(JSON.stringify(events[2])).not.toMatch(/hash-of-one|one\.md/);
});

test('a task or a message is no event', () => {
  expect(toMcpTaskEvent({ payload: { $case: 'task', value: task.toTask() } }, at)).toBeUndefined();
  expect(toMcpTaskEvent({ payload: undefined }, at)).toBeUndefined();
});

test.each([
  [TaskState.TASK_STATE_COMPLETED, true],
  [TaskState.TASK_STATE_FAILED, true],
  [TaskState.TASK_STATE_CANCELED, true],
  [TaskState.TASK_STATE_REJECTED, true],
  [TaskState.TASK_STATE_WORKING, false],
  [TaskState.TASK_STATE_INPUT_REQUIRED, false],
])('the state %p ends the stream: %p', (state, ends) => {
  const status = { state, message: undefined, timestamp: undefined };
  const value = { taskId: 't', contextId: 's', status, metadata: undefined };
  expect(isLastTaskEvent({ payload: { $case: 'statusUpdate', value } })).toBe(ends);
});
