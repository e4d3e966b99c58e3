import { describe, expect, it } from '@jest/globals';
import { decideCalls } from '../../../../a2a-server/task/decide.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { foldNextEvents } from '../../../../a2a-server/task/fold.ts';
import { findSameQuestion, pendingActions } from '../../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { parkedTask, taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
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

/** A task whose call `a` needs no decision, because policy allowed it. */
const allowed = taskAfter(...turnEventsWith([{ call: request('a', false), ask: false }]));

const isFirst = (snapshot: Snapshot, callId: string): boolean =>
  pendingActions(snapshot).find((action) => action.callId === callId)?.first === true;

describe('a pending action of a snapshot', () => {
  it.each([request('a', false), questionCall('a')])('is the first question of its task: $tool', (call) => {
    const [action] = pendingActions(taskAfter(...turnEventsWith([{ call, ask: true }])));
    expect(action).toMatchObject({ callId: 'a', first: true });
  });

  it.each([
    ['files', '/home/ann/app'],
    ['command', undefined],
  ] as const)('an action with the side effect %s has the workspace %s', (sideEffect, shown) => {
    const call = { ...request('a', false), sideEffect };
    const task = taskAfter(...turnEventsWith([{ call, ask: true }]));
    const settings = { ...task.settings, workspace: '/home/ann/app' };
    const [action] = pendingActions({ ...task, settings });
    expect(action?.workspace).toBe(shown);
  });

  it('the action names the rule that asks, and the possible decisions', () => {
    const own = { ...request('b', false), source: { type: 'acp-agent' as const, agent: 'x' } };
    const task = taskAfter(
      { type: 'turn.started', turn: 1, model: 'm' },
      {
        type: 'tool.requested',
        turn: 1,
        call: request('a', false),
        verdict: { type: 'ask', rule: 'rule 1' },
      },
      { type: 'tool.requested', turn: 1, call: own, verdict: { type: 'ask' } },
    );
    const [first, second] = pendingActions(task);
    expect(first).toMatchObject({ rule: 'rule 1', decisions: ['approve', 'deny', 'edit'] });
    expect(second?.decisions).toEqual(['approve', 'deny']);
    expect(second).not.toHaveProperty('rule');
  });

  it.each([
    ['its outcome is lost', [starts, lost], 'outcome-unknown'],
    ['its files have changed', [outdated], 'content-changed'],
  ] as const)(
    'D2 the action is not the first question if %s, so a plain word does not decide it',
    (_, events, reason) => {
      const waits = parkedTask(foldNextEvents(allowed, events));
      const [action] = pendingActions(waits);
      expect(action).toMatchObject({ callId: 'a', reason });
      expect(action).not.toHaveProperty('first');
      const plain = { callId: 'a', decision: 'approve', scope: 'once', reason: null, edited: null } as const;
      const by = { principal: 'ada', channel: 'test' };
      expect(decideCalls(waits, [{ ...plain, shown: null }], { by, at: 1 })).toMatchObject({
        reason: 'INPUT_CHANGED',
      });
      expect(decideCalls(waits, [{ ...plain, shown: action?.shown ?? '' }], { by, at: 1 })).toMatchObject([
        { type: 'tool.decided' },
        {},
      ]);
    },
  );
});

describe('the first question of a task', () => {
  const waits = { call: request('a', false), ask: true };

  it('of two questions that wait at the same time, none is the first', () => {
    const both = taskAfter(...turnEventsWith([waits, { call: request('b', false), ask: true }]));
    expect([isFirst(both, 'a'), isFirst(both, 'b')]).toEqual([false, false]);
  });

  it('calls about which nobody was asked may come before the first question', () => {
    const ran: TaskEvent = {
      type: 'tool.finished',
      callId: 'b',
      tool: 'read-file',
      title: 'B',
      toolId: 'x2',
      outcome: { type: 'ok', text: '', summary: '' },
    };
    const others = ['b', 'c'].map((id) => ({ call: request(id, true), ask: false }));
    expect(isFirst(foldNextEvents(taskAfter(...turnEventsWith([waits, ...others])), [ran]), 'a')).toBe(true);
  });

  it('D2 a call after a question that its tool withdrew is not the first question', () => {
    const asks: TaskEvent = { type: 'tool.asked', call: questionCall('a.q1'), askedBy: 'a' };
    const withdrew: TaskEvent = { type: 'tool.withdrew', callId: 'a.q1', tool: 'ask-person', title: '' };
    const later = turnEventsWith([{ call: request('b', false), ask: true }], { turn: 2 });
    expect(isFirst(foldNextEvents(allowed, [starts, ...later]), 'b')).toBe(true);
    expect(isFirst(foldNextEvents(allowed, [starts, asks, withdrew, ...later]), 'b')).toBe(false);
  });
});

describe('findSameQuestion, which compares questions', () => {
  it('findSameQuestion finds only the action with the same call and the same code', () => {
    const waits = taskAfter(
      ...turnEventsWith([
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
