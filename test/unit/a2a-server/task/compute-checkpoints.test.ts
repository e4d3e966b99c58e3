import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  combineFileChanges,
  checkpointsOf,
  decideRestoreStep,
  isSameSavedContent,
  type Checkpoint,
  type CheckpointFile,
} from '../../../../a2a-server/task/compute-checkpoints.ts';
import type {
  FileState,
  RequestedCall,
  RecordedFileChange,
  TaskEvent,
} from '../../../../a2a-server/task/events.ts';
import { request } from '../../../support/task-machine.ts';
import { foldedTask, ranCall } from '../../../support/folded-task.ts';

const absent: FileState = { type: 'absent' };
const holding = (hash: string): FileState => ({ type: 'content', hash, bytes: 1 });

function requested(turn: number, callId: string, more: Partial<RequestedCall> = {}): TaskEvent {
  const call = { ...request(callId, false), ...more };
  return {
    type: 'tool.requested',
    turn,
    call,
    verdict: { type: 'allow', because: { type: 'auto-execute' } },
  };
}

function ran(callId: string, ...files: RecordedFileChange[]): TaskEvent[] {
  const toolId = `${callId}-1`;
  const [started, ...ended] = ranCall(request(callId, false), '', toolId);
  const saved = files.map((file): TaskEvent => ({ type: 'files.saved', callId, toolId, files: [file] }));
  return [...(started ? [started] : []), ...saved, ...ended];
}

function taskOf(...events: TaskEvent[]) {
  const settings = { workspace: '/w' };
  const created: TaskEvent = { type: 'task.created', sessionId: 's', principal: 'p', settings };
  return foldedTask([created, ...events], 'task-1', 1);
}

const opening = (turn: number): TaskEvent => ({ type: 'turn.started', turn, model: 'm' });

describe('the checkpoints of a task', () => {
  it('each turn that changed files has a checkpoint with the first state and all later states of each file', () => {
    const task = taskOf(
      opening(1),
      requested(1, 'a'),
      requested(1, 'b'),
      ...ran('a', { path: 'x', before: absent, after: holding('1') }),
      ...ran(
        'b',
        { path: 'x', before: holding('1'), after: holding('2') },
        { path: 'y', before: holding('7'), after: absent },
      ),
      opening(2),
      requested(2, 'c'),
      ...ran('c', { path: 'x', before: holding('2'), after: holding('3') }),
    );
    expect(checkpointsOf(task)).toMatchObject([
      {
        id: 'task-1.1',
        turn: 1,
        workspace: '/w',
        commands: [],
        files: [
          { path: 'x', before: absent, after: [holding('1'), holding('2')], interrupted: false },
          { path: 'y', before: holding('7'), after: [absent], interrupted: false },
        ],
      },
      { id: 'task-1.2', turn: 2, files: [{ path: 'x', before: holding('2'), after: [holding('3')] }] },
    ]);
  });

  it('a checkpoint has the changes in the order of the journal, even if the clock went back between them', () => {
    const task = taskOf(
      opening(1),
      requested(1, 'a'),
      requested(1, 'b'),
      ...ran('a', { path: 'x', before: holding('1'), after: holding('2') }),
      ...ran('b', { path: 'x', before: holding('2'), after: holding('3') }),
    );
    const times = [2_000, 1_000];
    const calls = Object.values(task.calls).map((call, index) => ({
      ...call,
      saved: (call.saved ?? []).map((saved) => ({ ...saved, at: times[index] ?? 0 })),
    }));
    const back = { ...task, calls: Object.fromEntries(calls.map((call) => [call.callId, call])) };
    expect(checkpointsOf(back)[0]?.files).toMatchObject([
      { before: holding('1'), after: [holding('2'), holding('3')] },
    ]);
  });

  it('a checkpoint lists the turn’s commands, whose changes are unknown; a turn without saved files has no checkpoint', () => {
    const task = taskOf(
      opening(1),
      requested(1, 'a'),
      requested(1, 'shell', { sideEffect: 'command' }),
      requested(1, 'theirs', { source: { type: 'mcp-server', server: 'x' } }),
      requested(1, 'web', { sideEffect: 'network' }),
      requested(1, 'never-run', { sideEffect: 'command' }),
      ...ran('a', { path: 'x', before: absent, after: holding('1') }),
      ...ran('shell'),
      ...ran('theirs'),
      ...ran('web'),
      opening(2),
      requested(2, 'more', { sideEffect: 'command' }),
      ...ran('more'),
    );
    expect(checkpointsOf(task).map(({ turn, commands }) => ({ turn, commands }))).toEqual([
      { turn: 1, commands: ['Call shell', 'Call theirs'] },
    ]);
  });
});

const states = fc.oneof(
  fc.constant(absent),
  fc.constantFrom('1', '2', '3', '4').map(holding),
  fc.constant<FileState>({ type: 'not-saved', why: 'too large' }),
);

const turn = (taskId: string, ...files: CheckpointFile[]): Checkpoint => ({
  id: `${taskId}.1`,
  taskId,
  sessionId: 's',
  turn: 1,
  at: 1,
  workspace: '/w',
  files,
  commands: [],
});

describe('the restoration of a file', () => {
  const file = { path: 'x', before: holding('1'), after: [holding('2'), holding('3')], interrupted: false };

  it.each([
    ['as it was before', holding('1'), 'nothing'],
    ['as the turn left it', holding('3'), 'put-back'],
    ['as the turn left it when it was cut off in the middle', holding('2'), 'put-back'],
    ['changed by somebody else', holding('9'), 'changed-since'],
    ['removed by somebody else', absent, 'changed-since'],
    ['too large to look at', { type: 'not-saved', why: 'too large' } as const, 'changed-since'],
  ])('the restoration handles a file that is %s', (_what, now, type) => {
    expect(decideRestoreStep(file, now)).toMatchObject({ type, path: 'x' });
  });

  it('the restoration does not change an unsaved file, and gives the reason', () => {
    const unsaved = { ...file, before: { type: 'not-saved', why: 'too large' } as const };
    expect(decideRestoreStep(unsaved, holding('3'))).toEqual({
      type: 'not-saved',
      path: 'x',
      why: 'too large',
    });
  });

  it('the restoration never overwrites another program’s change, and can be repeated', () => {
    fc.assert(
      fc.property(states, fc.array(states, { minLength: 1, maxLength: 3 }), states, (before, after, now) => {
        const step = decideRestoreStep({ path: 'x', before, after, interrupted: false }, now);
        if (step.type !== 'put-back') return;
        expect(after.some((state) => isSameSavedContent(state, now))).toBe(true);
        expect(decideRestoreStep({ path: 'x', before, after, interrupted: false }, step.before).type).toBe(
          'nothing',
        );
      }),
    );
  });

  it('the restoration over several turns uses the first state, and the content from the task that saved it', () => {
    const changes = combineFileChanges([
      turn('one', { path: 'x', before: holding('1'), after: [holding('2')], interrupted: false }),
      turn('two', { path: 'y', before: absent, after: [holding('5')], interrupted: false }),
      turn('three', { path: 'x', before: holding('2'), after: [absent], interrupted: false }),
    ]);
    expect(changes).toEqual([
      { path: 'x', taskId: 'one', before: holding('1'), after: [holding('2'), absent], interrupted: false },
      { path: 'y', taskId: 'two', before: absent, after: [holding('5')], interrupted: false },
    ]);
  });

  it('the restoration over several turns never overwrites another program’s change between two turns', () => {
    const first: CheckpointFile = {
      path: 'x',
      before: holding('1'),
      after: [holding('2'), holding('3')],
      interrupted: false,
    };
    const over = (before: FileState, now: FileState) =>
      combineFileChanges([
        turn('one', first),
        turn('two', { path: 'x', before, after: [holding('4')], interrupted: false }),
      ]).map((changes) => decideRestoreStep(changes, now).type);
    expect(over(holding('3'), holding('4'))).toEqual(['put-back']);
    // In this case a crash prevented the last change of the first turn.
    expect(over(holding('2'), holding('4'))).toEqual(['put-back']);
    // In this case a person has already undone the first turn.
    expect(over(holding('1'), holding('4'))).toEqual(['put-back']);
    expect(over(holding('9'), holding('4'))).toEqual(['changed-since']);
    expect(over({ type: 'not-saved', why: 'too large' }, holding('4'))).toEqual(['changed-since']);
    expect(over(holding('9'), holding('1'))).toEqual(['nothing']);
  });
});
