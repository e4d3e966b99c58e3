import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../../support/folded-task.ts';
import { decideCalls } from '../../../../a2a-server/task/decide.ts';
import type { CommandOutcome } from '../../../../a2a-server/task/command-outcome.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { firstSnapshot, foldEntry } from '../../../../a2a-server/task/fold.ts';
import { parkOrContinue, pendingActions } from '../../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { request } from '../../../support/task-machine.ts';

const by = { principal: 'ada', channel: 'tool' };
const at = Date.UTC(2026, 0, 2);
const started = { type: 'tool.started', callId: 'a', tool: 't', title: 't', toolId: 't-1' } as const;

function after(snapshot: Snapshot, ...events: TaskEvent[]): Snapshot {
  const all = events.reduce((s, event) => foldEntry(s, { seq: s.seq + 1, at, event }), snapshot);
  return foldEntry(all, { seq: all.seq + 1, at, event: parkOrContinue(all) });
}

/** Returns a task with one waiting call. */
function parked(): Snapshot {
  const task = firstSnapshot('t', {
    seq: 1,
    at,
    event: { type: 'task.created', sessionId: 's', principal: 'ada', settings: {} },
  });
  if (task === undefined) throw new Error('no task');
  const call = request('a', false);
  return after(
    task,
    { type: 'turn.started', turn: 1, model: 'm' },
    { type: 'tool.requested', turn: 1, call, verdict: { type: 'ask' } },
    { type: 'turn.finished', turn: 1, end: 'tool-calls', usage: { inputTokens: 0, outputTokens: 0 } },
  );
}

/** Approves the question of the state `saw`, in the task's current state. */
function approve(snapshot: Snapshot, saw: Snapshot): CommandOutcome {
  const shown = pendingActions(saw)[0]?.shown ?? '';
  const decision = { callId: 'a', decision: 'approve', scope: 'once', reason: null } as const;
  return decideCalls(snapshot, [{ ...decision, shown, edited: null }], { by, at });
}

function approved(snapshot: Snapshot): Snapshot {
  return eventsOf(approve(snapshot, snapshot)).reduce(
    (s, event) => foldEntry(s, { seq: s.seq + 1, at, event }),
    snapshot,
  );
}

const AGAIN: [string, (s: Snapshot) => TaskEvent[]][] = [
  ['R11 the file changed', (s) => [outdated(s, 'one')]],
  [
    'R21 the server died while it ran',
    () => [started, { ...started, type: 'tool.interrupted', rerun: false }],
  ],
];

function outdated(s: Snapshot, basis: string): TaskEvent {
  const preview = pendingActions(s)[0]?.preview ?? { type: 'json', value: null };
  return { type: 'tool.outdated', callId: 'a', tool: 't', title: 't', preview, basis };
}

describe('a call about which the server asks again', () => {
  it.each(AGAIN)('%s: a late or repeated approval of the earlier content runs nothing', (_, events) => {
    const before = parked();
    const again = after(approved(before), ...events(before));
    expect(pendingActions(again)).toHaveLength(1);
    expect(approve(again, before)).toMatchObject({ type: 'refuse', reason: 'INPUT_CHANGED' });
    expect(approve(again, again)).toMatchObject([{ type: 'tool.decided' }, { type: 'task.working' }]);
  });

  it('R11 the server asks again after each change of the content', () => {
    const before = parked();
    const once = after(approved(before), outdated(before, 'one'));
    const twice = after(approved(once), outdated(before, 'two'));
    expect(approve(twice, once)).toMatchObject({ type: 'refuse', reason: 'INPUT_CHANGED' });
    expect(approve(twice, twice)).toMatchObject([{ type: 'tool.decided' }, { type: 'task.working' }]);
  });
});
