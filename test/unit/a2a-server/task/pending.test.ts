import { describe, expect, it } from '@jest/globals';
import { decide } from '../../../../a2a-server/task/commands.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { foldNext } from '../../../../a2a-server/task/fold.ts';
import { findSameQuestion, pendingActions } from '../../../../a2a-server/task/pending.ts';
import { parked, taskAfter, turnWith } from '../../../support/folded-task.ts';
import { questionCall, request } from '../../../support/task-machine.ts';

const reference = { callId: 'a', tool: 'write-file', title: 'A' };
const starts: TaskEvent = { type: 'tool.started', ...reference, toolId: 'x1' };
const lost: TaskEvent = { type: 'tool.interrupted', ...reference, toolId: 'x1', rerun: false };
const outdated: TaskEvent = {
  type: 'tool.outdated',
  ...reference,
  preview: { type: 'json', value: {} },
  basis: 'new',
};

/** A task with the call `a`, which policy allowed. */
const allowed = taskAfter(...turnWith([{ call: request('a', false), ask: false }]));

describe('a pending action', () => {
  it.each([request('a', false), questionCall('a')])('is the first question of its task: $tool', (call) => {
    const [action] = pendingActions(taskAfter(...turnWith([{ call, ask: true }])));
    expect(action).toMatchObject({ callId: 'a', first: true });
  });

  it.each([
    ['its outcome is lost', [starts, lost], 'outcome-unknown'],
    ['its files have changed', [outdated], 'content-changed'],
  ] as const)('D2 is not the first question if %s: a plain word does not decide it', (_, events, reason) => {
    const waits = parked(foldNext(allowed, events));
    const [action] = pendingActions(waits);
    expect(action).toMatchObject({ callId: 'a', reason });
    expect(action).not.toHaveProperty('first');
    const plain = { callId: 'a', decision: 'approve', scope: 'once', reason: null, edited: null } as const;
    const by = { principal: 'ada', channel: 'test' };
    expect(decide(waits, [{ ...plain, shown: null }], by, 1)).toMatchObject({ reason: 'INPUT_CHANGED' });
    expect(decide(waits, [{ ...plain, shown: action?.shown ?? '' }], by, 1).type).toBe('append');
  });
});

describe('findSameQuestion', () => {
  it('finds only the action with the same call and the same code', () => {
    const waits = taskAfter(
      ...turnWith([
        { call: request('a', false), ask: true },
        { call: request('b', false), ask: true },
      ]),
    );
    const pending = pendingActions(waits);
    const [first, second] = pending;
    if (first === undefined || second === undefined) throw new Error('two actions');
    expect(findSameQuestion(pending, second)).toBe(second);
    expect(findSameQuestion(pending, { callId: 'b', shown: first.shown })).toBeUndefined();
    expect(findSameQuestion(pending, { callId: 'c', shown: second.shown })).toBeUndefined();
  });
});
