import { describe, expect, it } from '@jest/globals';
import type { RequestedCall, TaskEvent, PolicyVerdict } from '../../../../a2a-server/task/events.ts';
import { firstSnapshot, foldEntry } from '../../../../a2a-server/task/fold.ts';
import { nextStep } from '../../../../a2a-server/task/next-step.ts';
import { isReadOnlyCall, isRepeatableCall } from '../../../../a2a-server/task/snapshot.ts';

type Kind = Pick<RequestedCall, 'sideEffect' | 'repeatable'>;

const ref = { callId: 'c', tool: 'tool', title: 'Do it' };
const allowed: PolicyVerdict = { type: 'allow', because: { type: 'auto-execute' } };
const usage = { inputTokens: 1, outputTokens: 1 };

/** Returns a task with one running call. */
function running(kind: Kind) {
  const call: RequestedCall = {
    ...ref,
    ...kind,
    modelCallId: 'm',
    input: {},
    inputHash: 'h',
    source: { type: 'built-in' },
    preview: { type: 'url', url: 'https://example.com/' },
    basis: null,
  };
  const created = { type: 'task.created' as const, sessionId: 's', principal: 'p', settings: {} };
  const start = firstSnapshot('t', { seq: 1, at: 1, event: created });
  if (start === undefined) throw new Error('no task');
  const events: TaskEvent[] = [
    { type: 'task.working' },
    { type: 'turn.started', turn: 1, model: 'm' },
    { type: 'tool.requested', turn: 1, call, verdict: allowed },
    { type: 'turn.finished', turn: 1, end: 'tool-calls', usage },
    { type: 'tool.started', ...ref, toolId: 'tool-1' },
  ];
  return events.reduce((s, event) => foldEntry(s, { seq: s.seq + 1, at: 1, event }), start);
}

describe('a call whose outcome a crash has lost', () => {
  it.each<[Kind, boolean]>([
    [{ sideEffect: 'none' }, true],
    [{ sideEffect: 'network', repeatable: true }, true],
    [{ sideEffect: 'network' }, false],
    [{ sideEffect: 'files' }, false],
    [{ sideEffect: 'other' }, false],
  ])('E2 a call of a tool with %j runs again without a question: %s', (kind, rerun) => {
    expect(nextStep(running(kind))).toMatchObject({
      type: 'recover',
      events: [{ type: 'tool.interrupted', callId: 'c', rerun }],
    });
    expect(isRepeatableCall(kind)).toBe(rerun);
  });

  it('E2 a tool can be repeatable without being read-only, so a person still decides before the first run', () => {
    expect(isReadOnlyCall({ sideEffect: 'network' })).toBe(false);
  });
});
