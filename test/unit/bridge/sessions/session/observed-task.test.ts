import { describe, expect, test } from '@jest/globals';
import { questionWithCode } from '../../../../../bridge/dialects/plain-text-question.ts';
import type { Observation, ObservedEvent } from '../../../../../bridge/dialects/observation.ts';
import {
  foldObservedEvent,
  hasEnded,
  hasSettled,
  isEndedOrInterrupted,
  sessionCostUsd,
  type TaskView,
} from '../../../../../bridge/sessions/session/observed-task.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const ids = { taskId: 't', sessionId: 's' };
const snapshot = (changes: Partial<Extract<Observation, { type: 'snapshot' }>> = {}): Observation => ({
  type: 'snapshot',
  ...ids,
  state: 'working',
  text: '',
  pending: [],
  question: null,
  outputs: [],
  reply: '',
  overview: null,
  ...changes,
});
const status = (changes: Partial<Extract<Observation, { type: 'status' }>> = {}): Observation => ({
  type: 'status',
  ...ids,
  state: 'working',
  text: '',
  pending: [],
  question: null,
  ...changes,
});
const output = (text: string, append = true, id = 'o'): Observation => ({
  type: 'output',
  ...ids,
  output: { id, name: '', text },
  append,
});
const at = (seq: number | null, ...observations: Observation[]): ObservedEvent => ({ seq, observations });

function folded(...events: ObservedEvent[]): TaskView {
  let view: TaskView | undefined;
  for (const event of events) view = foldObservedEvent(view, event);
  if (view === undefined) throw new Error('nothing was folded');
  return view;
}

describe('the bridge’s view of a task', () => {
  test('the view is empty before the first event', () => {
    expect(foldObservedEvent(undefined, at(null))).toBeUndefined();
    expect(foldObservedEvent(undefined, at(1, { type: 'activity', activity: started('c') }))).toBeUndefined();
  });

  test.each(['moving', 'status', 'output', 'snapshot', 'turn-ended'])(
    'the view ignores an observation (%s) without the id of the task, which an agent of version 0.3 may leave out',
    (type) => {
      const observation = Object.assign(output('text'), { type, taskId: undefined });
      expect(foldObservedEvent(undefined, at(null, observation))).toBeUndefined();
    },
  );

  test('S1 the view ignores an event at or before its position, so a repeated stream changes nothing', () => {
    const events = [
      at(1, snapshot()),
      at(2, output('a')),
      at(3, output('b')),
      at(4, status({ state: 'completed' })),
    ];
    const once = folded(...events);
    expect(folded(...events, ...events)).toEqual(once);
    expect(once.outputs).toEqual([{ id: 'o', name: '', text: 'ab' }]);
    expect(once.seq).toBe(4);
  });

  test('J2 the view accepts a snapshot of its own position, which has the same content or more', () => {
    const overview = { settings: {}, turns: 2, calls: [], usage: { inputTokens: 3, outputTokens: 4 } };
    const view = folded(at(1, snapshot()), at(2, status()), at(2, snapshot({ overview })));
    expect(view.cost).toEqual({ turns: 2, inputTokens: 3, outputTokens: 4, usd: null });
  });

  test('the view has the cached tokens, and the session’s cost if the session has other tasks', () => {
    const usage = { inputTokens: 30, outputTokens: 4, cachedInputTokens: 20, cacheWriteTokens: 5, usd: 0.5 };
    const all = { ...usage, requests: 1, knownUsd: 0.5, unpricedRequests: 0 };
    const overview = { settings: {}, turns: 1, calls: [], usage, sessionUsage: all };
    expect(folded(at(1, snapshot({ overview }))).cost).toEqual({ turns: 1, ...usage });
    const more = { ...all, inputTokens: 100, cachedInputTokens: 0, cacheWriteTokens: 0, usd: null };
    const { cost } = folded(at(1, snapshot({ overview: { ...overview, sessionUsage: more } })));
    expect(cost?.session).toEqual({ inputTokens: 100, outputTokens: 4, usd: null });
    expect([sessionCostUsd(cost), sessionCostUsd({ turns: 1, ...usage }), sessionCostUsd(null)]).toEqual([
      null,
      0.5,
      null,
    ]);
  });

  test('the view ignores an older snapshot', () => {
    expect(folded(at(5, status({ state: 'completed' })), at(4, snapshot())).state).toBe('completed');
  });

  test('the view accepts events without positions in their order', () => {
    expect(folded(at(null, snapshot()), at(null, output('a')), at(null, output('a'))).outputs[0]?.text).toBe(
      'aa',
    );
  });

  test('the view replaces the known outputs with those of a snapshot', () => {
    const view = folded(
      at(null, output('old')),
      at(null, snapshot({ outputs: [{ id: 'n', name: '', text: 'new' }] })),
    );
    expect(view.outputs).toEqual([{ id: 'n', name: '', text: 'new' }]);
  });

  test('the view of the session’s next task begins empty, and so do its positions', () => {
    const view = folded(at(9, status({ state: 'completed' })), at(1, snapshot({ taskId: 'next' })));
    expect(view).toMatchObject({ taskId: 'next', state: 'working', seq: 1 });
  });

  test('the view drops a cost total once a later event is not included in it', () => {
    const overview = { settings: {}, turns: 1, calls: [], usage: { inputTokens: 1, outputTokens: 1 } };
    expect(folded(at(1, snapshot({ overview })), at(2, status({ state: 'completed' }))).cost).toBeNull();
  });

  test('the view adds an append to the end of the output, and any other output replaces it', () => {
    expect(folded(at(1, output('a')), at(2, output('b'))).outputs[0]?.text).toBe('ab');
    expect(folded(at(1, output('a')), at(2, output('b', false))).outputs[0]?.text).toBe('b');
  });

  test('X3 the view keeps only the last part of an agent’s endless text', () => {
    const piece = 'x'.repeat(1024 * 1024);
    let view: TaskView | undefined;
    for (let n = 0; n < 20; n += 1)
      view = foldObservedEvent(view, at(null, output(piece, true, `o${String(n)}`)));
    view = foldObservedEvent(view, at(null, output('the end', true, 'last')));
    const total = (view?.outputs ?? []).reduce((sum, each) => sum + each.text.length, 0);
    expect(total).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(view?.outputs.at(-1)?.text).toBe('the end');
    for (let n = 0; n < 3000; n += 1)
      view = foldObservedEvent(view, at(null, output('', true, `e${String(n)}`)));
    expect(view?.outputs.length).toBeLessThanOrEqual(1000);
    for (let n = 0; n < 500; n += 1)
      view = foldObservedEvent(view, at(null, { type: 'activity', activity: started(`c${String(n)}`) }));
    expect(view?.calls.length).toBeLessThanOrEqual(200);
  });

  test('X3 the view does not cut an endless text with each event, because each cut copies the text', () => {
    const long = folded(at(null, output('x'.repeat(17 * 1024 * 1024))));
    const before = long.outputs[0]?.text.length ?? 0;
    const longer = foldObservedEvent(long, at(null, output('and so on')));
    expect(longer?.outputs[0]?.text.length).toBe(before + 'and so on'.length);
  });

  test('the view follows a call from its request to its end, under one id', () => {
    const call = { callId: 'c', tool: 'write-file', title: 'Write' };
    const asked = { type: 'tool.requested', ...call, asks: true } as const;
    const decided = {
      type: 'tool.decided',
      ...call,
      decision: 'approve',
      by: 'me',
      channel: 'tool',
    } as const;
    const finished = {
      type: 'tool.finished',
      ...call,
      toolId: 'x',
      outcome: 'ok',
      summary: 'wrote it',
    } as const;
    expect(callsAfter(asked)).toEqual([
      { ...call, state: 'waiting', toolId: null, summary: null, startedAt: null, decided: null },
    ]);
    expect(callsAfter(asked, decided)).toMatchObject([{ state: 'ready' }]);
    expect(callsAfter(asked, { ...decided, decision: 'deny' })).toMatchObject([{ state: 'denied' }]);
    expect(
      callsAfter(
        asked,
        decided,
        started('c'),
        { ...finished, outcome: 'unknown' },
        { ...decided, decision: 'deny' },
      ),
    ).toMatchObject([{ state: 'skipped', toolId: 'x' }]);
    expect(callsAfter(asked, decided, started('c'))).toMatchObject([{ state: 'running', toolId: 'x' }]);
    expect(callsAfter(asked, decided, started('c'), finished)).toEqual([
      {
        ...call,
        state: 'ok',
        toolId: 'x',
        summary: 'wrote it',
        startedAt: timeOf(4),
        decided: { decision: 'approve', by: 'me', channel: 'tool' },
      },
    ]);
  });

  test('R09 the status of an event about a tool call does not hide the actions that still wait', () => {
    const pending = [pendingWrite('one'), pendingWrite('two')];
    const before = at(1, snapshot({ state: 'input-required', pending }));
    const view = folded(before, at(2, { type: 'activity', activity: started('three') }, status()));
    expect(view).toMatchObject({ seq: 2, state: 'input-required', pending, calls: [{ callId: 'three' }] });
    expect(foldObservedEvent(view, at(3, status()))).toMatchObject({ state: 'working', pending: [] });
  });

  test('R09 the view removes a decided call from the pending actions, and keeps the other actions', () => {
    const pending = [pendingWrite('one'), pendingWrite('two')];
    const decided = {
      type: 'tool.decided',
      callId: 'one',
      tool: 'w',
      title: 'W',
      decision: 'approve',
      by: 'me',
      channel: 'tool',
    } as const;
    const view = folded(
      at(1, snapshot({ state: 'input-required', pending })),
      at(2, { type: 'activity', activity: decided }),
    );
    expect(view.pending.map((each) => each.callId)).toEqual(['two']);
    expect(hasSettled(view)).toBe(true);
    const both = foldObservedEvent(
      view,
      at(3, { type: 'activity', activity: { ...decided, callId: 'two' } }),
    );
    expect(both?.state).toBe('input-required');
    // The person has decided all calls, and no event has arrived since. So the view must not count the task as
    // waiting.
    expect(hasSettled(both ?? view)).toBe(false);
  });

  test('R03 the status of a decision counts only if no other action waits', () => {
    const pending = [pendingWrite('one'), pendingWrite('two')];
    const first = folded(at(1, snapshot({ state: 'input-required', pending })), at(2, ...decisionOn('one')));
    expect(first).toMatchObject({ state: 'input-required', text: '', pending: [{ callId: 'two' }] });
    const second = foldObservedEvent(first, at(3, ...decisionOn('two')));
    expect(second).toMatchObject({ state: 'working', text: 'decided', pending: [] });
  });

  test('the view of an ended task has no pending action: unstarted calls are "skipped", and running calls keep their state', () => {
    const asked = {
      type: 'tool.requested',
      callId: 'one',
      tool: 'write-file',
      title: 'Write',
      asks: true,
    } as const;
    const view = folded(
      at(1, snapshot()),
      at(2, { type: 'activity', activity: started('ran') }),
      at(3, { type: 'activity', activity: asked }),
      at(4, status({ state: 'input-required', pending: [pendingWrite('one')] })),
      at(5, status({ state: 'canceled', pending: [pendingWrite('one')] })),
    );
    expect(view.pending).toEqual([]);
    expect(view.calls.map(({ callId, state }) => [callId, state])).toEqual([
      ['ran', 'running'],
      ['one', 'skipped'],
    ]);
  });

  test('the view does not ask an answered question again, but asks a new question', () => {
    expect(hasSettled(asking('q1'))).toBe(true);
    expect(hasSettled(asking('q1'), new Set(['q1']))).toBe(false);
    expect(hasSettled(asking('q2'), new Set(['q1']))).toBe(true);
  });

  test.each([
    ['completed', true, true],
    ['failed', true, true],
    ['canceled', true, true],
    ['rejected', true, true],
    ['auth-required', false, true],
    ['input-required', false, true],
    ['submitted', false, false],
    ['working', false, false],
    ['unknown', false, false],
  ] as const)('a task in the state %s: "ended" is %p, "interrupted" is %p', (state, ended, interrupted) => {
    const view = folded(at(null, status({ state })));
    expect(hasEnded(view)).toBe(ended);
    expect(isEndedOrInterrupted(view)).toBe(interrupted);
  });

  test('the view shows a message without a task as a result', () => {
    const view = folded(at(null, { type: 'reply', taskId: '', sessionId: 's', text: 'Hello' }));
    expect(view).toMatchObject({ state: 'completed', reply: 'Hello' });
  });

  test('the view keeps the id of the session if a message has none', () => {
    const view = folded(
      at(null, snapshot()),
      at(null, { type: 'reply', taskId: '', sessionId: '', text: 'Hi' }),
    );
    expect(view).toMatchObject({ sessionId: 's', reply: 'Hi' });
  });
});

function callsAfter(
  ...activities: Extract<Observation, { type: 'activity' }>['activity'][]
): TaskView['calls'] {
  return folded(
    at(1, snapshot()),
    ...activities.map((activity, n) => at(n + 2, { type: 'activity', activity, at: timeOf(n + 2) })),
  ).calls;
}

/** Returns the time of the event at that position. */
function timeOf(seq: number): string {
  return new Date(seq * 1000).toISOString();
}

function asking(id: string): TaskView {
  return folded(
    at(null, status({ state: 'input-required', question: questionWithCode({ id, text: 'Who?' }) })),
  );
}

function started(callId: string) {
  return { type: 'tool.started', callId, tool: 'write-file', title: 'Write', toolId: 'x' } as const;
}

/** Returns the observations of the event that reports a decision on a call. */
function decisionOn(callId: string): Observation[] {
  const call = { callId, tool: 'w', title: 'W', decision: 'approve', by: 'me', channel: 'tool' } as const;
  return [{ type: 'activity', activity: { type: 'tool.decided', ...call } }, status({ text: 'decided' })];
}
