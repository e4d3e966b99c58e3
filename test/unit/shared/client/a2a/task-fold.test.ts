import { describe, expect, test } from '@jest/globals';
import { TaskFold } from '../../../../../shared/client/a2a/task-fold.ts';
import type { WireEvent, WireTask } from '../../../../../shared/client/a2a/wire.ts';
import {
  RESUMABLE_STREAM_EXTENSION,
  TOOL_APPROVAL_EXTENSION,
} from '../../../../../shared/protocol/extensions.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const at = (seq: number, approval?: object) => ({
  [RESUMABLE_STREAM_EXTENSION]: { seq },
  ...(approval && { [TOOL_APPROVAL_EXTENSION]: approval }),
});
const TASK: WireTask = {
  id: 'task-1',
  contextId: 'session-1',
  status: { state: 'TASK_STATE_SUBMITTED' },
  artifacts: [],
  metadata: at(2),
};
const says = (seq: number, text: string, append = true, artifactId = 'turn-1'): WireEvent => ({
  artifactUpdate: { artifact: { artifactId, parts: [{ text }] }, append, metadata: at(seq) },
});
const stands = (seq: number, state: string, text?: string): WireEvent => ({
  statusUpdate: {
    status: { state: `TASK_STATE_${state}`, ...(text !== undefined && { message: { parts: [{ text }] } }) },
    metadata: at(seq),
  },
});
const waits = (seq: number, ...pending: readonly unknown[]): WireEvent => ({
  statusUpdate: {
    status: {
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ data: { extension: TOOL_APPROVAL_EXTENSION, pending } }] },
    },
    metadata: at(seq),
  },
});
const happens = (seq: number, activity: object): WireEvent => ({
  statusUpdate: {
    status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T00:00:00Z' },
    metadata: at(seq, { activity }),
  },
});
const call = { callId: 'c', tool: 'wait', title: 'Wait', toolId: 'wait-1' };

describe('the fold of a task’s events', () => {
  test('X3 a state with the name of an inherited property counts as an unknown state', () => {
    const fold = new TaskFold({ ...TASK, status: { state: 'constructor' } });
    expect(fold.report.state).toBe('working');
  });

  test('the fold appends and replaces text for each artifact', () => {
    const fold = new TaskFold(TASK);
    const events = [says(3, 'He'), says(4, 'llo'), says(5, 'Other', false, 'turn-2'), says(6, 'Bye', false)];
    expect(events.flatMap((event) => fold.take(event)).map((told) => told.type)).toEqual(
      Array.from(events, () => 'text'),
    );
    expect(fold.report).toMatchObject({ output: 'Bye\n\nOther', cursor: 6, state: 'working' });
  });

  test('the fold omits tool output from the answer and reports none', () => {
    const metadata = { [TOOL_APPROVAL_EXTENSION]: { role: 'tool-output' } };
    const beside = { artifactId: 'output-1', parts: [{ text: 'noise' }], metadata };
    const fold = new TaskFold({ ...TASK, artifacts: [beside] });
    expect(fold.take(says(3, 'Hello'))).toHaveLength(1);
    expect(fold.take({ artifactUpdate: { artifact: beside, append: true, metadata: at(4) } })).toEqual([]);
    expect(fold.report).toMatchObject({ output: 'Hello', cursor: 4 });
  });

  test('R25 the fold ignores an event that it has received before', () => {
    const fold = new TaskFold(TASK);
    fold.take(says(3, 'once'));
    expect(fold.take(says(3, 'once'))).toEqual([]);
    expect(fold.take(says(2, 'long ago'))).toEqual([]);
    expect([fold.report.output, fold.position]).toEqual(['once', 3]);
  });

  test('the fold reports the missed events to a returning client, and applies them once', () => {
    const metadata = at(4);
    const artifacts = [{ artifactId: 'turn-1', parts: [{ text: 'ab' }] }];
    const fold = new TaskFold({ ...TASK, metadata, artifacts }, 2);
    expect(fold.position).toBe(2);
    const told = [says(3, 'a'), says(4, 'b'), says(5, 'c')].flatMap((event) => fold.take(event));
    expect(told).toEqual(['a', 'b', 'c'].map((text) => ({ type: 'text', text })));
    expect(fold.report).toMatchObject({ output: 'abc', cursor: 5 });
  });

  test('the fold lists a tool execution from start to finish, and none in an ended task', () => {
    const fold = new TaskFold(TASK);
    fold.take(happens(3, { type: 'tool.started', ...call }));
    expect(fold.report.tools).toEqual([
      { toolId: 'wait-1', tool: 'wait', title: 'Wait', startedAt: '2026-01-01T00:00:00Z' },
    ]);
    fold.take(happens(4, { type: 'tool.finished', ...call, outcome: 'ok', summary: '' }));
    expect(fold.report.tools).toEqual([]);
    fold.take(happens(5, { type: 'tool.started', ...call }));
    fold.take(stands(6, 'CANCELED', 'Cancelled by local: enough'));
    expect(fold.report).toMatchObject({
      tools: [],
      state: 'canceled',
      message: 'Cancelled by local: enough',
    });
    expect(fold.over).toBe(true);
  });

  test('R100 the fold names the calls that a completed task did not do', () => {
    const calls = [{ callId: 'd', tool: 'write', title: 'Write a', toolId: null, state: 'denied' }];
    const fold = new TaskFold({ ...TASK, metadata: at(2, { calls }) });
    fold.take(happens(3, { type: 'tool.finished', ...call, outcome: 'stopped', summary: '' }));
    expect(fold.report.notDone).toBe('');
    fold.take(stands(4, 'COMPLETED'));
    expect(fold.report.notDone).toBe('not done: Write a (denied), Wait (stopped)');
  });

  test('R21 a denied call that ran before has an unknown outcome, and is not called denied', () => {
    const fold = new TaskFold(TASK);
    const summary = 'interrupted, outcome unknown';
    fold.take(happens(3, { type: 'tool.finished', ...call, outcome: 'unknown', summary }));
    fold.take(happens(4, { type: 'tool.decided', ...call, decision: 'deny', by: 'me', channel: 'page' }));
    fold.take(stands(5, 'COMPLETED'));
    expect(fold.report.notDone).toBe('not done: Wait (interrupted, outcome unknown)');
  });

  test('R09 an event about a tool call does not hide the actions that still wait', () => {
    const [one, two] = [pendingWrite('one'), pendingWrite('two')];
    const fold = new TaskFold(TASK);
    fold.take(waits(3, one, two));
    const decided = {
      ...call,
      callId: 'one',
      decision: 'approve',
      by: 'me',
      channel: 'page',
      inputHash: 'h',
    };
    const told = fold.take(happens(4, { type: 'tool.decided', ...decided }));
    expect(told.map(({ type }) => type)).toEqual(['activity']);
    expect(fold.report).toMatchObject({ state: 'waiting', pending: [{ callId: 'one' }, { callId: 'two' }] });
    expect(fold.take(waits(5, two))).toMatchObject([
      { type: 'state', report: { pending: [{ callId: 'two' }] } },
    ]);
    fold.take(stands(6, 'WORKING'));
    expect(fold.report).toMatchObject({ state: 'working', pending: [], cursor: 6 });
  });

  test('the fold ignores an unknown kind of activity', () => {
    const fold = new TaskFold(TASK);
    expect(fold.take(happens(3, { type: 'tool.dreamt', ...call }))).toEqual([]);
    expect(fold.position).toBe(3);
  });

  test.each([
    ['SUBMITTED', 'working'],
    ['WORKING', 'working'],
    ['INPUT_REQUIRED', 'waiting'],
    ['AUTH_REQUIRED', 'waiting'],
    ['COMPLETED', 'completed'],
    ['CANCELED', 'canceled'],
    ['FAILED', 'failed'],
    ['REJECTED', 'rejected'],
    ['OF_A_LATER_VERSION', 'working'],
  ])('the A2A state %s is the state "%s"', (wire, state) => {
    const fold = new TaskFold(TASK);
    fold.take(stands(3, wire, 'words'));
    expect(fold.report).toMatchObject({ state, question: state === 'waiting' ? 'words' : null });
  });

  test('for a cursor past the end, the fold does not treat the task as ended, so that the server can reject the cursor', () => {
    const ended = { ...TASK, status: { state: 'TASK_STATE_COMPLETED' } };
    expect([new TaskFold(ended).over, new TaskFold(ended, 3).over]).toEqual([true, false]);
  });
});
