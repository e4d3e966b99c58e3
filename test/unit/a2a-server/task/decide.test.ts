import { describe, expect, it } from '@jest/globals';
import { acceptMessage } from '../../../../a2a-server/task/accept-message.ts';
import { askAgain, type ResolvedDecision } from '../../../../a2a-server/task/decide.ts';
import { foldNextEvents } from '../../../../a2a-server/task/fold.ts';
import { nextStep } from '../../../../a2a-server/task/next-step.ts';
import { pendingActions } from '../../../../a2a-server/task/pending.ts';
import { resultForModel } from '../../../../a2a-server/task/result-for-model.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import {
  ADA,
  askedByTool,
  decide,
  decided,
  decision,
  says,
  TOOL_STARTED,
  waitingFor,
} from '../../../support/decided-task.ts';
import { parkedTask, taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
import { questionCall, request } from '../../../support/task-machine.ts';

function shownCall(snapshot: Snapshot) {
  const call = snapshot.calls['a'];
  if (call === undefined) throw new Error('no call');
  return call;
}

describe('a question that waits for the person', () => {
  const answer = decision('a.q1', { decision: 'answer', answer: 'red' });

  it('a question of a running tool is answered once; then the task works again, and the tool still runs', () => {
    const moved = decided(askedByTool(), answer);
    expect(moved.status).toEqual({ state: 'working' });
    expect(moved.calls['a']?.state.type).toBe('running');
    expect(decide(moved, [answer])).toMatchObject({
      reason: 'ALREADY_DECIDED',
      facts: { firstDecision: 'answer' },
    });
  });

  it('R07 a question that its tool withdrew refuses an answer and gives the reason', () => {
    const outcome = { type: 'error', message: 'aborted' } as const;
    const finished = foldNextEvents(askedByTool(), [
      { type: 'tool.withdrew', callId: 'a.q1', tool: 'write-file', title: 'Call a.q1' },
      { ...TOOL_STARTED, type: 'tool.finished', outcome },
      { type: 'task.working' },
    ]);
    expect(decide(finished, [answer])).toMatchObject({
      reason: 'ALREADY_DECIDED',
      message: expect.stringContaining('no longer waits'),
    });
  });

  it('R21 a question can be answered after a crash, and then its call is recorded as "interrupted"', () => {
    const moved = decided(askedByTool(), answer);
    expect(nextStep(moved)).toMatchObject({
      type: 'recover',
      events: [{ type: 'tool.interrupted', callId: 'a', rerun: false }],
    });
  });

  it('D1 while a question waits, a message is refused, and the error says which answer is needed', () => {
    const first = parkedTask(taskAfter(...turnEventsWith([{ call: questionCall('a'), ask: true }])));
    for (const [task, wordsDecide, wanted] of [
      [first, true, 'answer it with one text, or send a decision'],
      [askedByTool(), true, 'The words "approve" and "deny" may belong to an earlier question'],
      [first, false, '"answer" with the answer'],
    ] as const)
      expect(acceptMessage(task, says('hello'), { channel: 'a2a', wordsDecide })).toMatchObject({
        reason: 'DECISION_NEEDED',
        message: expect.stringContaining(wanted),
      });
  });

  it('D1 an answer that does not fit the question is refused with the reason, and the question still waits', () => {
    const empty = decision('a.q1', { decision: 'answer', answer: ' ' });
    expect(decide(askedByTool(), [empty])).toEqual({
      type: 'refuse',
      reason: 'INVALID_DECISION',
      message: expect.stringMatching(
        /^The answer to call a\.q1 is not valid: it names no choice\..* The call still waits\.$/,
      ),
    });
  });

  it('a question that was answered is not withdrawn later', () => {
    const withdrew = { type: 'tool.withdrew', callId: 'a.q1', tool: 'write-file', title: '' } as const;
    const answered = decided(askedByTool(), answer);
    expect(foldNextEvents(answered, [withdrew]).calls).toEqual(answered.calls);
  });

  it('R02 the model gets the person’s refusal to answer, and its reason', () => {
    const { shown = '' } = pendingActions(askedByTool())[0] ?? {};
    const declined = decided(askedByTool(), decision('a.q1', { decision: 'deny', reason: 'private', shown }));
    const call = declined.calls['a.q1'];
    expect(call && resultForModel(call)).toEqual({
      text: 'The person declined to answer. Reason: private',
      isError: true,
    });
  });
});

describe('decideCalls, which applies a person’s decision', () => {
  it('R03 the first of two decisions leaves the other call pending, and the same append records that', () => {
    const ruling = decide(waitingFor('a', 'b'), [decision('a')]);
    expect(ruling).toMatchObject([
      { type: 'tool.decided', callId: 'a' },
      { type: 'input.required', pending: [{ callId: 'b' }] },
    ]);
  });

  it('R09 the last decision gives the task the state "working" and no pending action', () => {
    expect(decided(waitingFor('a'), decision('a')).status).toEqual({ state: 'working' });
  });

  it('R07 a second decision is refused, and the error contains the first decision’s author, channel and time', () => {
    const once = decided(waitingFor('a', 'b'), decision('a', { decision: 'deny' }));
    expect(decide(once, [decision('a')], { principal: 'bob', channel: 'page' })).toEqual({
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

  it.each(['__proto__', 'constructor', 'toString'])(
    'R07 a call id with the name of an object’s built-in property (%s) names no call',
    (callId) =>
      expect(decide(taskAfter(), [decision(callId, { shown: null })])).toMatchObject({
        type: 'refuse',
        reason: 'UNKNOWN_CALL',
      }),
  );

  it('R07 an unknown call is refused, and the error lists the pending calls', () => {
    expect(decide(waitingFor('a', 'b'), [decision('zz')])).toMatchObject({
      type: 'refuse',
      reason: 'UNKNOWN_CALL',
      message: 'Task t has no call zz. Pending: a, b.',
      facts: { pending: 'a, b' },
    });
  });

  it('R07 for an unknown call of an ended task, the error names no call as pending', () => {
    const ended = foldNextEvents(waitingFor('a'), [{ type: 'task.canceled', reason: 'enough', by: ADA }]);
    expect(decide(ended, [decision('zz')])).toMatchObject({
      type: 'refuse',
      reason: 'UNKNOWN_CALL',
      message: 'Task t has no call zz. The task has ended (cancelled). No call waits for a decision.',
      facts: { pending: '' },
    });
  });

  it('D1 a decision on a call that the policy allowed is refused', () => {
    const allowed = taskAfter(...turnEventsWith([{ call: request('a', false), ask: false }]));
    expect(decide(allowed, [decision('a')])).toMatchObject({
      type: 'refuse',
      reason: 'ALREADY_DECIDED',
      message: expect.stringContaining('the policy allowed it'),
    });
  });

  it('R21 after a denial, the model learns that a call with an unknown outcome was not run again', () => {
    const lost = parkedTask(
      foldNextEvents(decided(waitingFor('a'), decision('a')), [
        TOOL_STARTED,
        { ...TOOL_STARTED, type: 'tool.interrupted', rerun: false },
      ]),
    );
    const { shown = '' } = pendingActions(lost)[0] ?? {};
    const skipped = decided(lost, decision('a', { decision: 'deny', reason: 'too late', shown }));
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
    expect(decide(waitingFor('a', 'b'), decisions)).toMatchObject({
      type: 'refuse',
      reason,
    });
  });

  it('R10 an edit without a new input, or a new input without an edit, is refused', () => {
    const { callId: _, ...edited } = request('a', false);
    expect(decide(waitingFor('a'), [decision('a', { decision: 'edit' })])).toMatchObject({
      type: 'refuse',
    });
    expect(decide(waitingFor('a'), [decision('a', { edited })])).toMatchObject({
      type: 'refuse',
    });
  });

  it('R02 the model gets the denial and its reason', () => {
    const denied = decided(waitingFor('a'), decision('a', { decision: 'deny', reason: 'wrong file' }));
    const call = denied.calls['a'];
    expect(call && resultForModel(call)).toEqual({
      text: 'The person denied this call; it was not run. Reason: wrong file',
      isError: true,
    });
  });

  it('D4 the model’s result says that the person edited the input, and shows the edited input', () => {
    const edited = { ...request('a', false), input: { path: 'other.md' } };
    const ready = decided(waitingFor('a'), decision('a', { decision: 'edit', edited }));
    const outcome = { type: 'ok', text: 'wrote it', summary: '' } as const;
    const done = foldNextEvents(ready, [{ ...TOOL_STARTED, type: 'tool.finished', outcome }]);
    const call = done.calls['a'];
    expect(call && resultForModel(call).text).toBe(
      'The person changed the input before approving. It ran with: {"path":"other.md"}\n\nwrote it',
    );
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
    const again = foldNextEvents(waiting, [outdated]);
    const ended = foldNextEvents(waiting, [{ type: 'task.canceled', reason: 'x', by: ADA }]);
    for (const now of [decided(waiting, decision('a')), again, ended])
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
    expect(decide(own, [decision('a', { decision: 'edit', edited })])).toMatchObject({
      type: 'refuse',
      reason: 'INVALID_DECISION',
      message: expect.stringContaining('you cannot edit its input'),
    });
    expect(decide(waiting, [decision('a', { decision: 'edit', edited })])).toMatchObject([
      { type: 'tool.decided' },
      {},
    ]);
    expect(decide(own, [decision('a')])).toMatchObject([{ type: 'tool.decided' }, {}]);
  });
});
