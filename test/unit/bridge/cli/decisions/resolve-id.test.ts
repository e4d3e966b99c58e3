import { describe, expect, it } from '@jest/globals';
import {
  requireSameAction,
  resolvePendingActions,
  sessionIdOrError,
  resolveQuestion,
} from '../../../../../bridge/cli/decisions/resolve-id.ts';
import { questionWithCode } from '../../../../../bridge/dialects/plain-text-question.ts';
import { shortIds } from '../../../../../bridge/cli/terminal/short-ids.ts';
import type { ListedSession } from '../../../../../bridge/sessions/list-sessions.ts';
import type { CallView, TaskView } from '../../../../../bridge/sessions/session/observed-task.ts';
import type { PendingAction } from '../../../../../shared/protocol/tool-approval.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { callView, taskView } from '../../../../support/task-view.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const listed = (sessionId: string, taskId: string | null = null): ListedSession => ({
  sessionId,
  agent: 'local',
  taskId,
  state: 'working',
  title: `about ${sessionId}`,
  updatedAt: '',
  notDone: '',
  pending: 0,
  codes: [],
  callIds: [],
  usd: null,
});

const action = (callId: string): PendingAction =>
  pendingWrite(callId, { title: `Write ${callId}`, shown: 'hash' });

const call = (callId: string): CallView => callView({ callId, title: callId, state: 'ok' });

const view = (pending: readonly PendingAction[], calls: readonly CallView[] = []): TaskView =>
  taskView({ taskId: 't', sessionId: 's', state: 'input-required', pending, calls });

describe('the session argument of a command', () => {
  const all = [listed('session-abc1', 'task-9'), listed('session-abd2'), listed('other')];

  it.each([
    ['session-abc1', 'session-abc1'],
    ['session-abc', 'session-abc1'],
    ['abd', 'session-abd2'],
    ['task-9', 'session-abc1'],
    ['o', 'other'],
  ])('the argument "%s" selects the session %s', (given, meant) =>
    expect(sessionIdOrError(all, given)).toBe(meant),
  );

  it('a prefix of one session selects it, although the id of another task begins with it too', () => {
    const both = [listed('session-744a17d1', 'task-1'), listed('session-19a6', 'task-744add00')];
    expect(sessionIdOrError(both, '744a')).toBe('session-744a17d1');
    expect(sessionIdOrError(both, '744ad')).toBe('session-19a6');
  });

  it('of two agents that use the same session id, the id of a task selects one, and an error names both', () => {
    const both = [listed('session-1', 'task-a'), { ...listed('session-1', 'task-b'), agent: 'other' }];
    expect(sessionIdOrError(both, 'task-b')).toBe('session-1::task-b::other');
    expect(sessionIdOrError(both, 'session-')).toMatchObject({
      message: expect.stringMatching(
        /Several sessions[^]*session-1::task-a::local[^]*session-1::task-b::other/,
      ),
    });
  });

  it.each([
    ['ab', /Several sessions begin with "ab"[^]*session-abc1 {2}about[^]*session-abd2/],
    ['zzz', /There is no session "zzz"[^]*session-abc1/],
    ['', /There is no session ""/],
  ])('R15 "%s" matches no session, and the error lists the existing ones', (given, message) => {
    const error = sessionIdOrError(all, given);
    expect(error).toBeInstanceOf(ProductError);
    expect(error).toMatchObject({ reason: 'UNKNOWN_SESSION', message: expect.stringMatching(message) });
  });

  it('a title with line breaks adds no lines to the error', () => {
    const error = sessionIdOrError([{ ...listed('a'), title: 'x\n\u{1b}[2J' }], 'b');
    expect(error).toMatchObject({ message: expect.stringContaining('a  x⏎\\u{1b}[2J') });
  });
});

describe('the action argument of a command', () => {
  it('the argument may be absent for a single pending action, be a prefix of its id, or select all actions', () => {
    const both = view([action('call-a1'), action('call-b2')]);
    expect(resolvePendingActions(view([action('call-a1')]), undefined, false)).toMatchObject([
      { callId: 'call-a1' },
    ]);
    expect(resolvePendingActions(both, 'b', false)).toMatchObject([{ callId: 'call-b2' }]);
    expect(resolvePendingActions(both, undefined, true)).toHaveLength(2);
  });

  it('an id that is the prefix of another id selects its own action', () => {
    expect(resolvePendingActions(view([action('c1'), action('c12')]), 'c1', false)).toMatchObject([
      { callId: 'c1' },
    ]);
  });

  it('R07 an argument for a decided action is refused, and the error contains the decision', () => {
    const decided = { decision: 'deny', by: 'ada', channel: 'page' } as const;
    expect(() =>
      resolvePendingActions(view([], [{ ...call('call-a1'), decided }]), 'call-a1', false),
    ).toThrow(/was decided before: denied by ada on an approval page/);
  });

  it.each([
    [view([action('a'), action('b')]), undefined, false, /Several actions wait[^]*Write a[^]*Write b/],
    [view([action('xa'), action('xb')]), 'x', false, /Several actions begin with "x"/],
    [view([action('a')]), 'z', false, /no call "z"[^]*Write a/],
    [view([]), undefined, true, /No action of this session waits/],
    [undefined, undefined, false, /No action of this session waits/],
    [
      { ...view([]), question: questionWithCode({ id: 'q', text: 'Who?' }) },
      undefined,
      false,
      /mcp-a2a-bridge answer/,
    ],
  ])(
    'an unclear argument selects no action, and the error lists the choices (%#)',
    (of, given, all, message) => {
      expect(() => resolvePendingActions(of, given, all)).toThrow(message);
    },
  );
});

describe('short ids in lists', () => {
  it('the short ids are the shortest unique prefixes', () => {
    const ids = ['session-aaaaaaaa-1', 'session-aaaaaaaa-2', 'session-bbbbbbbbbbbb', 'x'];
    const short = shortIds(ids);
    expect([...short.values()].toSorted()).toEqual(
      ['session-aaaaaaaa-1', 'session-aaaaaaaa-2', 'session-bbbbbbbb', 'x'].toSorted(),
    );
  });
});

describe('the question argument of a command', () => {
  const question = (callId: string): PendingAction => ({ ...action(callId), decisions: ['answer', 'deny'] });

  it('the argument may be absent for a single question, even if other calls wait for approval', () => {
    expect(resolveQuestion(view([action('call-a'), question('call-b')]), {}).callId).toBe('call-b');
    expect(resolveQuestion(view([question('call-a'), question('call-b')]), { call: 'b' }).callId).toBe(
      'call-b',
    );
  });

  it.each([
    [[], undefined, /no open question/],
    [[action('call-a')], undefined, /What waits needs approve, deny or edit/],
    [[question('call-a'), question('call-b')], undefined, /Name one with --call:\s+call-a/],
    [[question('call-a')], 'x', /There is no question "x"/],
  ])('among %j, the argument %j selects no question: %s', (pending, given, says) => {
    expect(() => resolveQuestion(view(pending), { call: given })).toThrow(says);
  });
});

it('the error about a question of the agent has one line, so the question cannot imitate a line of the program', () => {
  const question = questionWithCode({ id: 'q', text: 'Which one?\nDenied: two' });
  const asked = taskView({ taskId: 't', sessionId: 's', state: 'input-required', question });
  expect(() => resolvePendingActions(asked, undefined, false)).toThrow(
    /^No action waits for a decision: the agent asks a question: "Which one\?⏎Denied: two"\. Answer it with: .*$/,
  );
});

describe('the code of an action with another argument', () => {
  const one = action('call-one');

  it('a call that is the action with the code is accepted', () =>
    expect(() => requireSameAction([one], { call: 'call-o', all: false })).not.toThrow());

  it('another call is refused: nothing says which of the two the person means', () =>
    expect(() => requireSameAction([one], { call: 'call-two', all: false })).toThrow(
      'The code is that of the action call-one, not of "call-two". Nothing was decided.',
    ));

  it('--all is refused, because a code names one action', () =>
    expect(() => requireSameAction([one], { call: undefined, all: true })).toThrow(
      'A code names one action, and --all goes with a session. Nothing was decided.',
    ));
});
