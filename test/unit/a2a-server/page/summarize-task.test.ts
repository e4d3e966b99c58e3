import { describe, expect, it } from '@jest/globals';
import {
  countDecidableActions,
  countUnreadActions,
  summarizeTask,
  type TaskSummary,
  waitingForShownTo,
} from '../../../../a2a-server/page/summarize-task.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { pendingActions } from '../../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { completed, created, delta, message, working } from '../../../support/journal-samples.ts';
import { foldedTask, decidedEvent } from '../../../support/folded-task.ts';
import { request } from '../../../support/task-machine.ts';

const call = (callId: string, sideEffect: 'files' | 'command'): TaskEvent => ({
  type: 'tool.requested',
  turn: 1,
  call: {
    ...request(callId, false),
    tool: 'run-shell-command',
    title: `Run ${callId}`,
    sideEffect,
    preview: { type: 'command', command: callId, cwd: '/' },
  },
  verdict: { type: 'ask' },
});
const turn: TaskEvent = { type: 'turn.started', turn: 1, model: 'smart' };

const snapshotOf = (events: readonly TaskEvent[]): Snapshot =>
  foldedTask([created('session'), message('do it'), ...events], 'task', 1_000);

const approver = { principal: 'local', roles: ['delegate', 'approve'] as const };
const summaryOf = (...events: TaskEvent[]): TaskSummary => summarizeTask(snapshotOf(events));

describe('summarizeTask', () => {
  it('reports the model, the times and the last line of a working task', () => {
    const summary = summaryOf(working, turn, delta('First line.\nSecond '), delta('line.\n\n'));
    expect(summary).toMatchObject({
      state: 'working',
      model: 'smart',
      activity: 'Second line.',
      waitingFor: null,
      createdAt: '1970-01-01T00:00:00.000Z',
      updatedAt: '1970-01-01T00:00:05.000Z',
    });
    expect(countDecidableActions(summary, approver)).toBe(0);
  });

  it('cuts a long line of activity', () => {
    expect(summaryOf(working, turn, delta('x'.repeat(10_000))).activity).toHaveLength(200);
  });

  it('names the first pending actions with their effect and their code, and counts all of them', () => {
    const calls = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => call(id, 'command'));
    const asked = [working, turn, ...calls];
    const pending = pendingActions(snapshotOf(asked));
    const summary = summaryOf(...asked, { type: 'input.required', pending });
    expect(summary.state).toBe('waiting');
    expect(summary.waitingFor).toMatchObject({ type: 'actions', count: 7 });
    const first = summary.waitingFor?.type === 'actions' ? summary.waitingFor.first : [];
    expect(first.map(({ callId }) => callId)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(first[0]).toEqual({
      callId: 'a',
      tool: 'run-shell-command',
      title: 'Run a',
      shown: expect.stringMatching(/^[0-9a-f]{8}$/),
      sideEffect: 'command',
      reason: 'approval',
    });
    expect(countDecidableActions(summary, approver)).toBe(7);
    // Thousands of summaries stay in memory, so none contains a preview.
    expect(summary.pending).toEqual(pending.map(() => ({ decisions: expect.any(Array) })));
    expect(waitingForShownTo(summary, approver)).toEqual(summary.waitingFor);
    const delegator = { ...approver, roles: ['delegate'] as const };
    expect(countDecidableActions(summary, delegator)).toBe(0);
    expect([approver, delegator].map((reader) => countUnreadActions(1_800, reader))).toEqual([1_800, 0]);
    expect(waitingForShownTo(summary, delegator)).toMatchObject({
      count: 7,
      approver: { role: { needed: 'approve', held: ['delegate'] } },
    });
  });

  it('reports since when a task waits, also after a decision about one of its actions', () => {
    const asked = [working, turn, call('a', 'command'), call('b', 'command')];
    const pending = pendingActions(snapshotOf(asked));
    const waiting: TaskEvent[] = [...asked, { type: 'input.required', pending }];
    const since = summaryOf(...waiting).waitingSince;
    expect(since).toBe('1970-01-01T00:00:06.000Z');
    const once = [...waiting, decidedEvent('a', { decision: 'deny' })];
    expect(summaryOf(...once)).toMatchObject({ updatedAt: '1970-01-01T00:00:07.000Z', waitingSince: since });
    const asksAgain: TaskEvent = { type: 'input.required', pending: pendingActions(snapshotOf(once)) };
    expect(summaryOf(...once, asksAgain).waitingSince).toBe(since);
    expect(summaryOf(...once, working).waitingSince).toBeNull();
  });

  it('reports a question in text as one answer that the task waits for', () => {
    const summary = summaryOf(working, turn, {
      type: 'input.required',
      pending: [],
      question: 'Which\ncolour?',
    });
    expect(summary.waitingFor).toEqual({ type: 'reply', text: 'colour?' });
    expect(countDecidableActions(summary, approver)).toBe(1);
  });

  it('reports why a task has failed, and shows the end of a completed one', () => {
    expect(summaryOf(working, { type: 'task.failed', message: 'No key.\nSet one.' })).toMatchObject({
      state: 'failed',
      activity: 'No key.',
    });
    expect(summaryOf(working, completed)).toMatchObject({ state: 'completed', activity: '', notDone: '' });
  });
});
