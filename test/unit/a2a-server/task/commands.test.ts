import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../../support/folded-task.ts';
import { acceptMessage } from '../../../../a2a-server/task/accept-message.ts';
import { cancelTask, cancelAfterDisconnect } from '../../../../a2a-server/task/cancel.ts';
import { askAgain, decideCalls, type ResolvedDecision } from '../../../../a2a-server/task/decide.ts';
import { decisionInText } from '../../../../a2a-server/task/text-decision.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { foldNextEvents } from '../../../../a2a-server/task/fold.ts';
import { resultForModel } from '../../../../a2a-server/task/result-for-model.ts';
import { nextStep } from '../../../../a2a-server/task/next-step.ts';
import { parkOrContinue, pendingActions } from '../../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { parkedTask, taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
import { questionCall, request } from '../../../support/task-machine.ts';

const by = { principal: 'ada', channel: 'tool' };
const at = Date.UTC(2026, 0, 2, 3, 4, 5);

function after(snapshot: Snapshot, events: readonly TaskEvent[]): Snapshot {
  return foldNextEvents(snapshot, events, at);
}

/** Returns a task in which all these calls wait for a decision. */
function waitingFor(...callIds: string[]): Snapshot {
  return parkedTask(
    taskAfter(...turnEventsWith(callIds.map((id) => ({ call: request(id, false), ask: true })))),
  );
}

/**
 * Returns a decision with the code of `waitingFor`. An answer has no code, as from a client without the extension.
 */
function decision(callId: string, more: Partial<ResolvedDecision> = {}): ResolvedDecision {
  const shown = more.decision === 'answer' ? null : (pendingActions(waitingFor(callId))[0]?.shown ?? null);
  return { callId, decision: 'approve', scope: 'once', reason: null, shown, edited: null, ...more };
}

function shownCall(snapshot: Snapshot) {
  const call = snapshot.calls['a'];
  if (call === undefined) throw new Error('no call');
  return call;
}

function accepted(snapshot: Snapshot, ...decisions: ResolvedDecision[]): Snapshot {
  return after(snapshot, eventsOf(decideCalls(snapshot, decisions, { by, at })));
}

describe('a question that waits for the person', () => {
  /** Returns a task whose running tool `a` has asked the question `a.q1`. */
  function asked(): Snapshot {
    const reference = { callId: 'a', tool: 'write-file', title: 'A', toolId: 'x1' };
    const runs = after(accepted(waitingFor('a'), decision('a')), [{ type: 'tool.started', ...reference }]);
    const asks = after(runs, [{ type: 'tool.asked', call: questionCall('a.q1'), askedBy: 'a' }]);
    return after(asks, [parkOrContinue(asks)]);
  }
  const answer = decision('a.q1', { decision: 'answer', answer: 'red' });

  it('a question of a running tool is answered once; then the task works again, and the tool still runs', () => {
    const moved = accepted(asked(), answer);
    expect(moved.status).toEqual({ state: 'working' });
    expect(moved.calls['a']?.state.type).toBe('running');
    expect(decideCalls(moved, [answer], { by, at })).toMatchObject({
      reason: 'ALREADY_DECIDED',
      facts: { firstDecision: 'answer' },
    });
  });

  it('R07 a question that its tool withdrew refuses an answer and gives the reason', () => {
    const outcome = { type: 'error', message: 'aborted' } as const;
    const finished = after(asked(), [
      { type: 'tool.withdrew', callId: 'a.q1', tool: 'write-file', title: 'Call a.q1' },
      { type: 'tool.finished', callId: 'a', tool: 'write-file', title: 'A', toolId: 'x1', outcome },
      { type: 'task.working' },
    ]);
    expect(decideCalls(finished, [answer], { by, at })).toMatchObject({
      reason: 'ALREADY_DECIDED',
      message: expect.stringContaining('no longer waits'),
    });
  });

  it('R21 a question can be answered after a crash, and then its call is recorded as "interrupted"', () => {
    const moved = accepted(asked(), answer);
    expect(nextStep(moved)).toMatchObject({
      type: 'recover',
      events: [{ type: 'tool.interrupted', callId: 'a', rerun: false }],
    });
  });

  it('D1 while a question waits, a message is refused, and the error says which answer is needed', () => {
    const first = parkedTask(taskAfter(...turnEventsWith([{ call: questionCall('a'), ask: true }])));
    for (const [task, wordsDecide, wanted] of [
      [first, true, 'answer it with one text, or send a decision'],
      [asked(), true, 'The words "approve" and "deny" may belong to an earlier question'],
      [first, false, '"answer" with the answer'],
    ] as const)
      expect(acceptMessage(task, says('hello'), { channel: 'a2a', wordsDecide })).toMatchObject({
        reason: 'DECISION_NEEDED',
        message: expect.stringContaining(wanted),
      });
  });

  it('D1 an answer that does not fit the question is refused with the reason, and the question still waits', () => {
    const empty = decision('a.q1', { decision: 'answer', answer: ' ' });
    expect(decideCalls(asked(), [empty], { by, at })).toEqual({
      type: 'refuse',
      reason: 'INVALID_DECISION',
      message: expect.stringMatching(
        /^The answer to call a\.q1 is not valid: it names no choice\..* The call still waits\.$/,
      ),
    });
  });

  it('a question that was answered is not withdrawn later', () => {
    const withdrew = { type: 'tool.withdrew', callId: 'a.q1', tool: 'write-file', title: '' } as const;
    const answered = accepted(asked(), answer);
    expect(after(answered, [withdrew]).calls).toEqual(answered.calls);
  });

  it('R02 the model gets the person’s refusal to answer, and its reason', () => {
    const { shown = '' } = pendingActions(asked())[0] ?? {};
    const declined = accepted(asked(), decision('a.q1', { decision: 'deny', reason: 'private', shown }));
    const call = declined.calls['a.q1'];
    expect(call && resultForModel(call)).toEqual({
      text: 'The person declined to answer. Reason: private',
      isError: true,
    });
  });
});

describe('decideCalls, which applies a person’s decision', () => {
  it('R03 the first of two decisions leaves the other call pending, and the same append records that', () => {
    const ruling = decideCalls(waitingFor('a', 'b'), [decision('a')], { by, at });
    expect(ruling).toMatchObject([
      { type: 'tool.decided', callId: 'a' },
      { type: 'input.required', pending: [{ callId: 'b' }] },
    ]);
  });

  it('R09 the last decision gives the task the state "working" and no pending action', () => {
    expect(accepted(waitingFor('a'), decision('a')).status).toEqual({ state: 'working' });
  });

  it('R07 a second decision is refused, and the error contains the first decision’s author, channel and time', () => {
    const once = accepted(waitingFor('a', 'b'), decision('a', { decision: 'deny' }));
    expect(decideCalls(once, [decision('a')], { by: { principal: 'bob', channel: 'page' }, at })).toEqual({
      type: 'refuse',
      reason: 'ALREADY_DECIDED',
      message: expect.stringContaining(
        'denied by ada in a tool call of the MCP client at 2026-01-02T03:04:05.000Z',
      ),
      facts: {
        callId: 'a',
        firstDecision: 'deny',
        decidedBy: 'ada',
        channel: 'tool',
        decidedAt: '2026-01-02T03:04:05.000Z',
      },
    });
  });

  it('R07 an unknown call is refused, and the error lists the pending calls', () => {
    expect(decideCalls(waitingFor('a', 'b'), [decision('zz')], { by, at })).toMatchObject({
      type: 'refuse',
      reason: 'UNKNOWN_CALL',
      message: 'Task t has no call zz. Pending: a, b.',
      facts: { pending: 'a, b' },
    });
  });

  it('R07 for an unknown call of an ended task, the error names no call as pending', () => {
    const ended = after(waitingFor('a'), [{ type: 'task.canceled', reason: 'enough', by }]);
    expect(decideCalls(ended, [decision('zz')], { by, at })).toMatchObject({
      type: 'refuse',
      reason: 'UNKNOWN_CALL',
      message: 'Task t has no call zz. The task has ended (cancelled). No call waits for a decision.',
      facts: { pending: '' },
    });
  });

  it('D1 a decision on a call that the policy allowed is refused', () => {
    const allowed = taskAfter(...turnEventsWith([{ call: request('a', false), ask: false }]));
    expect(decideCalls(allowed, [decision('a')], { by, at })).toMatchObject({
      type: 'refuse',
      reason: 'ALREADY_DECIDED',
      message: expect.stringContaining('the policy allowed it'),
    });
  });

  it('R21 after a denial, the model learns that a call with an unknown outcome was not run again', () => {
    const started = { callId: 'a', tool: 'write-file', title: 'A', toolId: 'x1' };
    const lost = parkedTask(
      after(accepted(waitingFor('a'), decision('a')), [
        { type: 'tool.started', ...started },
        { type: 'tool.interrupted', ...started, rerun: false },
      ]),
    );
    const { shown = '' } = pendingActions(lost)[0] ?? {};
    const skipped = accepted(lost, decision('a', { decision: 'deny', reason: 'too late', shown }));
    const call = skipped.calls['a'];
    expect(call && resultForModel(call)).toEqual({
      text: expect.stringMatching(/the person chose not to run it again\. Reason: too late$/),
      isError: true,
    });
  });

  it.each<[string, string, ResolvedDecision[]]>([
    ['E3 all decisions of a message, if one of them', 'UNKNOWN_CALL', [decision('a'), decision('zz')]],
    [
      'D1 a message that decides a call twice',
      'INVALID_DECISION',
      [decision('a'), decision('a', { decision: 'deny' })],
    ],
    [
      'D2 a decision with a code other than the shown one',
      'INPUT_CHANGED',
      [decision('a', { shown: 'stale' })],
    ],
    [
      'D1 the scope "server" for a built-in tool, because it would cover all built-in tools,',
      'INVALID_DECISION',
      [decision('a', { scope: 'server' })],
    ],
    [
      'a denial with a scope other than "once"',
      'INVALID_DECISION',
      [decision('a', { decision: 'deny', scope: 'tool' })],
    ],
  ])('%s is refused as %s', (_what, reason, decisions) => {
    expect(decideCalls(waitingFor('a', 'b'), decisions, { by, at })).toMatchObject({
      type: 'refuse',
      reason,
    });
  });

  it('R10 an edit without a new input, or a new input without an edit, is refused', () => {
    const { callId: _, ...edited } = request('a', false);
    expect(decideCalls(waitingFor('a'), [decision('a', { decision: 'edit' })], { by, at })).toMatchObject({
      type: 'refuse',
    });
    expect(decideCalls(waitingFor('a'), [decision('a', { edited })], { by, at })).toMatchObject({
      type: 'refuse',
    });
  });

  it('R02 the model gets the denial and its reason', () => {
    const denied = accepted(waitingFor('a'), decision('a', { decision: 'deny', reason: 'wrong file' }));
    const call = denied.calls['a'];
    expect(call && resultForModel(call)).toEqual({
      text: 'The person denied this call; it was not run. Reason: wrong file',
      isError: true,
    });
  });

  it('D4 the model’s result says that the person edited the input, and shows the edited input', () => {
    const edited = { ...request('a', false), input: { path: 'other.md' } };
    const ready = accepted(waitingFor('a'), decision('a', { decision: 'edit', edited }));
    const done = after(ready, [
      {
        type: 'tool.finished',
        callId: 'a',
        tool: 'write-file',
        title: '',
        toolId: 'x',
        outcome: { type: 'ok', text: 'wrote it', summary: '' },
      },
    ]);
    const call = done.calls['a'];
    expect(call && resultForModel(call).text).toBe(
      'The person changed the input before approving. It ran with: {"path":"other.md"}\n\nwrote it',
    );
  });
});

function says(text: string) {
  return { messageId: 'm', parts: [{ type: 'text' as const, text }] };
}

describe('decisionInText, which reads a decision from plain words', () => {
  it('the exact words "approve" and "deny" decide if one action is pending', () => {
    expect(decisionInText(waitingFor('a'), says('approve'), 't')).toMatchObject({
      callId: 'a',
      decision: 'approve',
    });
    expect(decisionInText(waitingFor('a'), says('deny'), 't')).toMatchObject({
      callId: 'a',
      decision: 'deny',
    });
  });

  it.each(['yes', 'Approve', 'APPROVE ', 'approve ', ' approve', 'reject', '1', 'approve\n'])(
    'R06 the text %j is not a decision',
    (text) => expect(decisionInText(waitingFor('a'), says(text), 't')).toBeUndefined(),
  );

  it('no word decides if two actions are pending', () => {
    expect(decisionInText(waitingFor('a', 'b'), says('approve'), 't')).toBeUndefined();
  });

  it('D2 a plain word decides only the first question of the task; a later question needs its code', () => {
    const runs: TaskEvent = {
      type: 'tool.started',
      callId: 'a',
      tool: 'write-file',
      title: 'A',
      toolId: 'x1',
    };
    const done = after(accepted(waitingFor('a'), decision('a')), [
      runs,
      { ...runs, type: 'tool.finished', outcome: { type: 'ok', text: '', summary: '' } },
      { type: 'turn.started', turn: 2, model: 'm' },
      { type: 'tool.requested', turn: 2, call: request('b', false), verdict: { type: 'ask' } },
      { type: 'turn.finished', turn: 2, end: 'tool-calls', usage: { inputTokens: 0, outputTokens: 0 } },
    ]);
    const later = after(done, [parkOrContinue(done)]);
    const [action] = pendingActions(later);
    expect(action).not.toHaveProperty('first');
    expect(decisionInText(later, says('approve'), 't')).toBeUndefined();
    expect(decisionInText(later, says('deny'), 't')).toBeUndefined();
    expect(decideCalls(later, [decision('b', { shown: null })], { by, at })).toMatchObject({
      reason: 'INPUT_CHANGED',
    });
    expect(
      acceptMessage(later, says('approve'), { channel: 'a2a', wordsDecide: true, taskId: 't' }),
    ).toMatchObject({
      reason: 'DECISION_NEEDED',
      message: expect.stringContaining('answer with the words that it names'),
    });
    const coded = decisionInText(later, says(`approve ${action?.shown ?? ''}`), 't');
    expect(coded).toMatchObject({ callId: 'b', decision: 'approve' });
    expect(coded && decideCalls(later, [coded], { by, at })).toMatchObject([{ type: 'tool.decided' }, {}]);
  });

  it('D2 a plain word does not decide the second of two calls after the first decision', () => {
    expect(
      decisionInText(accepted(waitingFor('a', 'b'), decision('a')), says('approve'), 't'),
    ).toBeUndefined();
  });

  it('D2 any text answers a later question, but a plain decision word needs the question’s code', () => {
    const runs = after(accepted(waitingFor('a'), decision('a')), [
      { type: 'tool.started', callId: 'a', tool: 'write-file', title: 'A', toolId: 'x1' },
      { type: 'tool.asked', call: questionCall('a.q1'), askedBy: 'a' },
    ]);
    const asks = after(runs, [parkOrContinue(runs)]);
    const code = pendingActions(asks)[0]?.shown ?? '';
    expect(decisionInText(asks, says('approve'), 't')).toBeUndefined();
    expect(decisionInText(asks, says('red'), 't')).toMatchObject({ decision: 'answer', answer: 'red' });
    expect(decisionInText(asks, says(`answer ${code} approve`), 't')).toMatchObject({
      decision: 'answer',
      shown: code,
      answer: 'approve',
    });
  });

  it('R93 "approve" does not decide if the text shows a shortened preview, but "deny" does', () => {
    const snapshot = waitingFor('a');
    const preview = {
      type: 'command',
      command: `echo ${'x'.repeat(9_000)}; echo HIDDEN`,
      cwd: '/w',
    } as const;
    const calls = Object.entries(snapshot.calls).map(([id, call]) => [id, { ...call, preview }] as const);
    const long = { ...snapshot, calls: Object.fromEntries(calls) };
    expect(decisionInText(long, says('approve'), 't')).toBeUndefined();
    expect(decisionInText(long, says('deny'), 't')).toMatchObject({ decision: 'deny' });
  });
});

/** Returns a task that waits after this event: a question in text, or a spent budget. */
function parkedBy(event: TaskEvent): Snapshot {
  return taskAfter({ type: 'message.received', message: says('go'), channel: 'a2a' }, event);
}

describe('the word "approve" alone, from a client without the extension', () => {
  const options = { channel: 'a2a', wordsDecide: true } as const;
  const asksInWords: TaskEvent = { type: 'input.required', pending: [], question: 'Which?' };
  const spent: TaskEvent = { type: 'input.required', pending: [], question: 'Go on?', budget: true };

  it.each([asksInWords, spent])(
    'D2 the word does not decide a call that follows an earlier question in text: %j',
    (question) => {
      const answered = after(parkedBy(question), [
        { type: 'message.received', message: says('blue'), channel: 'a2a' },
        { type: 'task.working' },
        { type: 'turn.started', turn: 2, model: 'm' },
        { type: 'tool.requested', turn: 2, call: request('b', false), verdict: { type: 'ask' } },
        { type: 'turn.finished', turn: 2, end: 'tool-calls', usage: { inputTokens: 0, outputTokens: 0 } },
      ]);
      const waits = after(answered, [parkOrContinue(answered)]);
      expect(decisionInText(waits, says('approve'), 't')).toBeUndefined();
      const [action] = pendingActions(waits);
      expect(action).not.toHaveProperty('first');
      expect(decisionInText(waits, says(`approve ${action?.shown ?? ''}`), 't')).toMatchObject({
        callId: 'b',
      });
    },
  );

  it('D2 the word decides nothing without a task id, because it may belong to another task of the session', () => {
    const waits = waitingFor('a');
    const [action] = pendingActions(waits);
    expect(decisionInText(waits, says('approve'), undefined)).toBeUndefined();
    expect(decisionInText(waits, says(`approve ${action?.shown ?? ''}`), undefined)).toMatchObject({
      decision: 'approve',
    });
    expect(acceptMessage(waits, says('approve'), options)).toMatchObject({
      reason: 'DECISION_NEEDED',
      message: expect.stringContaining('with the task id'),
    });
  });

  it('the word lets a task with a spent budget continue, if this is the first question of the named task', () => {
    expect(acceptMessage(parkedBy(spent), says('approve'), { ...options, taskId: 't' })).toMatchObject([
      { type: 'message.received' },
      { type: 'task.working' },
    ]);
  });

  it.each([asksInWords, spent])('D2 the word does not answer a later question in text: %j', (question) => {
    const later = after(parkedBy(asksInWords), [
      { type: 'message.received', message: says('blue'), channel: 'a2a' },
      question,
    ]);
    const refused = { type: 'refuse', reason: 'DECISION_NEEDED' };
    expect(acceptMessage(later, says('approve'), { ...options, taskId: 't' })).toMatchObject(refused);
    expect(acceptMessage(parkedBy(question), says('approve'), options)).toMatchObject(refused);
    expect(acceptMessage(later, says('go on'), { ...options, taskId: 't' })).toMatchObject([
      { type: 'message.received' },
      { type: 'task.working' },
    ]);
  });
});

describe('receive, which applies a person’s message', () => {
  it('R06 while calls wait, a message is refused, and the error says how to decide', () => {
    const refused = acceptMessage(
      waitingFor('a'),
      { messageId: 'm', parts: [{ type: 'text', text: 'yes' }] },
      { channel: 'a2a', wordsDecide: true, taskId: 't' },
    );
    expect(refused).toMatchObject({
      type: 'refuse',
      reason: 'DECISION_NEEDED',
      message: expect.stringContaining('Answer with exactly "approve" or "deny"'),
      facts: { pending: 'a' },
    });
  });

  it.each(['hello', 'approve'])(
    'R04 while the task works, %j is queued, and changes nothing else',
    (text) => {
      const working = accepted(waitingFor('a'), decision('a'));
      expect(acceptMessage(working, says(text), { channel: 'a2a', wordsDecide: true })).toEqual([
        { type: 'message.received', message: says(text), channel: 'a2a' },
      ]);
    },
  );
});

describe('a message with a command', () => {
  it('a command to a task that has not ended is refused, because a command needs its own task', () => {
    const message = { ...says('init'), command: { command: 'init', args: [] } };
    const ruling = acceptMessage(waitingFor('a'), message, { channel: 'a2a', wordsDecide: true });
    expect(ruling).toMatchObject({ type: 'refuse', reason: 'SESSION_BUSY', facts: { taskId: 't' } });
  });
});

describe('a waiting call whose files have changed', () => {
  const outdated = {
    type: 'tool.outdated',
    callId: 'a',
    tool: 'write-file',
    title: '',
    preview: { type: 'json', value: {} },
    basis: 'new',
  } as const;
  it('R11 the server asks about the call again, if the call waits and the shown code is still the same', () => {
    const waiting = waitingFor('a');
    const ruling = askAgain(waiting, shownCall(waiting), outdated);
    expect(ruling).toMatchObject([
      outdated,
      { type: 'input.required', pending: [{ callId: 'a', reason: 'content-changed' }] },
    ]);
  });

  it('R11 the server does not ask again if a person decided the call, the server asked again before, or the task ended', () => {
    const waiting = waitingFor('a');
    const again = after(waiting, [outdated]);
    const ended = after(waiting, [{ type: 'task.canceled', reason: 'x', by }]);
    for (const now of [accepted(waiting, decision('a')), again, ended])
      expect(askAgain(now, shownCall(waiting), outdated)).toEqual([]);
  });
});

describe('an edit of a waiting call', () => {
  it('D4 a call that an ACP agent runs itself cannot be edited, but can be approved', () => {
    const waiting = waitingFor('a');
    const own = {
      ...waiting,
      calls: { a: { ...shownCall(waiting), source: { type: 'acp-agent' as const, agent: 'x' } } },
    };
    const { title, input, inputHash, preview, basis } = shownCall(waiting);
    const edited = { title, input, inputHash, preview, basis };
    expect(decideCalls(own, [decision('a', { decision: 'edit', edited })], { by, at })).toMatchObject({
      type: 'refuse',
      reason: 'INVALID_DECISION',
      message: expect.stringContaining('you cannot edit its input'),
    });
    expect(decideCalls(waiting, [decision('a', { decision: 'edit', edited })], { by, at })).toMatchObject([
      { type: 'tool.decided' },
      {},
    ]);
    expect(decideCalls(own, [decision('a')], { by, at })).toMatchObject([{ type: 'tool.decided' }, {}]);
  });
});

describe('the cancel of a task', () => {
  it('A1 the cancel records a running tool execution as stopped by the cancel, and then ends the task', () => {
    const running = after(accepted(waitingFor('a'), decision('a')), [
      { type: 'tool.started', callId: 'a', tool: 'write-file', title: '', toolId: 'x' },
    ]);
    const ruling = cancelTask(running, 'changed my mind', by);
    expect(ruling).toMatchObject([
      { type: 'tool.finished', toolId: 'x', outcome: { type: 'stopped', reason: 'task-cancel' } },
      { type: 'task.canceled', reason: 'changed my mind', by },
    ]);
  });

  it('R50 the cancel of an ended task is refused and changes nothing', () => {
    const canceled = after(waitingFor('a'), [{ type: 'task.canceled', reason: 'x', by }]);
    expect(cancelTask(canceled, 'again', by)).toMatchObject({ type: 'refuse', reason: 'TASK_ENDED' });
  });

  it('cancelWork cancels a task that works, and keeps a task that waits or has ended', () => {
    const working = accepted(waitingFor('a'), decision('a'));
    const ended = after(working, [{ type: 'task.canceled', reason: 'x', by }]);
    const left = { messageSeq: working.messageSeq, reason: 'gone' };
    expect(cancelAfterDisconnect(working, left, by)).toEqual(cancelTask(working, 'gone', by));
    for (const settled of [waitingFor('a'), ended])
      expect(cancelAfterDisconnect(settled, left, by)).toEqual([]);
  });

  it('cancelWork keeps a task that has a newer message than the client that left: someone has come back to it', () => {
    const working = accepted(waitingFor('a'), decision('a'));
    const left = { messageSeq: working.messageSeq, reason: 'gone' };
    const message = { messageId: 'm2', parts: [{ type: 'text' as const, text: 'go on' }] };
    const again = after(working, [{ type: 'message.received', message, channel: 'a2a' }]);
    expect(cancelAfterDisconnect(again, left, by)).toEqual([]);
    expect(cancelAfterDisconnect(again, { ...left, messageSeq: again.messageSeq }, by)).toEqual(
      cancelTask(again, 'gone', by),
    );
  });
});
