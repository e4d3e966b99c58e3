import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../../support/folded-task.ts';
import { decideCalls } from '../../../../a2a-server/task/decide.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import {
  withDeadlines,
  deadlineAfterEvents,
  cancelExpiredTask,
  type ExpirySettings,
} from '../../../../a2a-server/task/expiry.ts';
import { foldEntry, foldAll } from '../../../../a2a-server/task/fold.ts';
import { parkOrContinue, pendingActions } from '../../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { request } from '../../../support/task-machine.ts';
import { NO_EXPIRY } from '../../../support/task-limits.ts';

const START = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
const expiry: ExpirySettings = { decisionMs: 7 * DAY, idleMs: 1_800_000 };
const by = { principal: 'p', channel: 'tool' };

function after(snapshot: Snapshot, events: readonly TaskEvent[]): Snapshot {
  return events.reduce((s, event) => foldEntry(s, { seq: s.seq + 1, at: s.updatedAt, event }), snapshot);
}

/** Returns a task whose turn has requested these calls, before the task waits. */
function asking(...callIds: string[]): Snapshot {
  const created: TaskEvent = { type: 'task.created', sessionId: 's', principal: 'p', settings: {} };
  const start = foldAll('t', [{ seq: 1, at: START, event: created }]);
  if (start === undefined) throw new Error('a task begins with task.created');
  return after(start, [
    { type: 'task.working' },
    { type: 'turn.started', turn: 1, model: 'm' },
    ...callIds.map((id): TaskEvent => ({
      type: 'tool.requested',
      turn: 1,
      call: request(id, false),
      verdict: { type: 'ask' },
    })),
    { type: 'turn.finished', turn: 1, end: 'tool-calls', usage: { inputTokens: 1, outputTokens: 1 } },
  ]);
}

function parked(snapshot: Snapshot, now = START, given = expiry): Snapshot {
  return after(snapshot, withDeadlines(snapshot, [parkOrContinue(snapshot)], { now, expiry: given }));
}

function approve(snapshot: Snapshot, callId: string, now: number): Snapshot {
  const shown = pendingActions(snapshot).find((action) => action.callId === callId)?.shown ?? null;
  const decision = { callId, decision: 'approve', scope: 'once', reason: null, shown, edited: null } as const;
  const events = eventsOf(decideCalls(snapshot, [decision], { by, at: now }));
  return after(snapshot, withDeadlines(snapshot, events, { now, expiry }));
}

const expiries = (snapshot: Snapshot) =>
  pendingActions(snapshot).map(({ callId, expiresAt }) => [callId, expiresAt]);

describe('the deadline of a pending action', () => {
  it('the asking event of an append has the deadline, among the other events', () => {
    const task = asking('a');
    const events = withDeadlines(task, [{ type: 'task.working' }, parkOrContinue(task)], {
      now: START,
      expiry,
    });
    expect(events).toMatchObject([
      { type: 'task.working' },
      { type: 'input.required', pending: [{ expiresAt: new Date(START + 7 * DAY).toISOString() }] },
    ]);
  });

  it('the deadline is set when the action becomes pending, and shown with the action', () => {
    expect(expiries(parked(asking('a', 'b')))).toEqual([
      ['a', '2026-01-08T00:00:00.000Z'],
      ['b', '2026-01-08T00:00:00.000Z'],
    ]);
  });

  it('D3 the deadline does not change when another call of the turn is decided', () => {
    const half = approve(parked(asking('a', 'b')), 'a', START + 3 * DAY);
    expect(half.status).toMatchObject({ pending: [{ callId: 'b', expiresAt: '2026-01-08T00:00:00.000Z' }] });
    expect(expiries(half)).toEqual([['b', '2026-01-08T00:00:00.000Z']]);
  });

  it('an action without a deadline has none after a change of the settings either', () => {
    const half = approve(parked(asking('a', 'b'), START, NO_EXPIRY), 'a', START + DAY);
    expect(expiries(half)).toEqual([['b', null]]);
  });

  it('D2 the deadline is new if the server asks about the call again for another reason', () => {
    const decided = approve(parked(asking('a')), 'a', START + DAY);
    const lost: TaskEvent[] = [
      { type: 'tool.started', callId: 'a', tool: 'write-file', title: 'Call a', toolId: 'x1' },
      {
        type: 'tool.interrupted',
        callId: 'a',
        tool: 'write-file',
        title: 'Call a',
        toolId: 'x1',
        rerun: false,
      },
    ];
    const again = parked(after(decided, lost), START + 2 * DAY);
    expect(expiries(again)).toEqual([['a', '2026-01-10T00:00:00.000Z']]);
  });
});

const action = (callId: string, expiresAt: string | null) =>
  pendingActions(asking(callId)).map((each) => ({ ...each, expiresAt }));

describe('expire, which ends tasks at their deadline', () => {
  it('R14 a waiting task ends exactly at its deadline, and the event names the undecided calls', () => {
    const task = parked(asking('a'));
    expect(cancelExpiredTask(task, START + 7 * DAY - 1)).toEqual([]);
    expect(cancelExpiredTask(task, START + 7 * DAY)).toEqual([
      {
        type: 'task.canceled',
        reason: 'No one decided before 2026-01-08 00:00 UTC: Call a.',
        by: { principal: 'server', channel: 'expiry' },
      },
    ]);
  });

  it('R14 an active task, a task without a deadline and an ended task never expire', () => {
    const moving = approve(parked(asking('a')), 'a', START);
    const endless = parked(asking('a'), START, NO_EXPIRY);
    const ended = after(parked(asking('a')), [{ type: 'task.canceled', reason: 'enough', by }]);
    for (const task of [asking('a'), moving, endless, ended])
      expect(cancelExpiredTask(task, START + 1_000 * DAY)).toEqual([]);
  });

  it('R14 a task that waits for a message ends after its idle time', () => {
    const task = asking();
    const events = withDeadlines(task, [{ type: 'input.required', pending: [] }], {
      now: START,
      expiry,
    });
    const waiting = after(task, events);
    expect(cancelExpiredTask(waiting, START + 1_799_999)).toEqual([]);
    expect(cancelExpiredTask(waiting, START + 1_800_000)).toMatchObject([
      { type: 'task.canceled', reason: 'No one answered before 2026-01-01 00:30 UTC.' },
    ]);
  });
});

describe('the deadline of a question', () => {
  it.each<[string, TaskEvent]>([
    ['a question', { type: 'input.required', pending: [], question: 'Which?' }],
    ['a sign-in', { type: 'auth.required', question: 'Who?' }],
  ])('R14 %s has a deadline like a pending action', (_, event) => {
    const task = asking();
    const waiting = after(task, withDeadlines(task, [event], { now: START, expiry }));
    expect(cancelExpiredTask(waiting, START + 7 * DAY - 1)).toEqual([]);
    expect(cancelExpiredTask(waiting, START + 7 * DAY)).toMatchObject([
      { type: 'task.canceled', reason: 'No one answered before 2026-01-08 00:00 UTC.' },
    ]);
  });
});

describe('deadlineAfterEvents, the deadline after an append', () => {
  it.each<[string, TaskEvent[], number | null | undefined]>([
    ['nothing that moves the task', [{ type: 'text.delta', turn: 1, text: 'x' }], undefined],
    ['a task that moves', [{ type: 'task.working' }], null],
    ['an end', [{ type: 'task.completed' }], null],
    ['an asking without end', [{ type: 'input.required', pending: action('a', null) }], null],
    [
      'several actions: the first to expire',
      [
        { type: 'task.working' },
        {
          type: 'input.required',
          pending: [
            ...action('a', '2026-01-03T00:00:00Z'),
            ...action('b', '2026-01-02T00:00:00Z'),
            ...action('c', null),
          ],
        },
        { type: 'text.delta', turn: 1, text: 'x' },
      ],
      Date.UTC(2026, 0, 2),
    ],
  ])('J2 the deadline follows from the events alone: %s', (_, events, deadline) => {
    expect(deadlineAfterEvents(events)).toBe(deadline);
  });
});
