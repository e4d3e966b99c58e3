import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RequestedCall, TaskEvent } from '../../../../a2a-server/task/events.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { summaryFacts } from '../../../../a2a-server/task/summary-facts.ts';
import { created, message, working } from '../../../support/journal-samples.ts';
import { snapshotOf } from '../../../support/long-session.ts';

const BY = { principal: 'ada', channel: 'test' };

function call(callId: string, title: string, more: Partial<RequestedCall> = {}): RequestedCall {
  return {
    callId,
    modelCallId: callId,
    tool: 'write-file',
    title,
    input: {},
    inputHash: 'h',
    sideEffect: 'files',
    source: { type: 'built-in' },
    preview: { type: 'json', value: {} },
    basis: null,
    ...more,
  };
}

/** One turn with one call, and the events after it. */
function turn(number: number, requested: RequestedCall, ...after: TaskEvent[]): TaskEvent[] {
  return [
    { type: 'turn.started', turn: number, model: 'm' },
    { type: 'tool.requested', turn: number, call: requested, verdict: { type: 'ask' } },
    { type: 'turn.finished', turn: number, end: 'tool-calls', usage: { inputTokens: 1, outputTokens: 1 } },
    ...after,
  ];
}

function decided(
  { callId, tool, title }: RequestedCall,
  decision: 'approve' | 'deny',
  reason: string | null = null,
): TaskEvent {
  const facts = { scope: 'once', by: BY, inputHash: 'h', edited: null } as const;
  return { type: 'tool.decided', callId, tool, title, decision, reason, ...facts };
}

function task(taskId: string, ...events: TaskEvent[]): Snapshot {
  const all = [created('s'), message(`The task ${taskId}`, taskId), working, ...events];
  return snapshotOf(
    taskId,
    all.map((event, index) => ({ seq: index + 1, at: 0, event })),
  );
}

const write = call('c1', 'Write notes.md');
const remove = call('c2', 'Delete old.txt');
const plan = call('c3', 'Plan 2 todos', { tool: 'update-todos', sideEffect: 'none' });
const STATE = { type: 'absent' } as const;

const whole = task(
  'b',
  ...turn(
    1,
    write,
    decided(write, 'approve'),
    {
      type: 'files.saved',
      callId: 'c1',
      toolId: 'x1',
      files: [{ path: 'notes.md', before: STATE, after: STATE }],
    },
    message('Use British English.', 'second'),
  ),
  ...turn(2, remove, decided(remove, 'deny', 'Keep it: it is the only copy.')),
  ...turn(3, plan, {
    type: 'todos.updated',
    callId: 'c3',
    todos: [
      { text: 'write notes', status: 'done' },
      { text: 'ask about the licence', status: 'pending' },
    ],
  }),
);

describe('the facts beside a summary', () => {
  it('are the to-do list, the later messages, the refusals, the changed files and the approvals', () => {
    expect(summaryFacts([whole], { taskId: 'b', turn: 3 }, 10_000)).toBe(
      [
        'The to-do list:',
        '- [done] write notes',
        '- [pending] ask about the licence',
        'The person wrote:',
        '- Use British English.',
        'The person refused, changed or answered:',
        '- denied: Delete old.txt (Keep it: it is the only copy.)',
        'Changed files:',
        '- notes.md',
        'The person approved:',
        '- Write notes.md',
      ].join('\n'),
    );
  });

  it('leave out the turns that stay in the conversation', () => {
    const facts = summaryFacts([whole], { taskId: 'b', turn: 1 }, 10_000);
    expect(facts).toContain('notes.md');
    expect(facts).not.toContain('old.txt');
    expect(facts).not.toContain('licence');
  });

  it('include the earlier tasks of the session with their first messages', () => {
    const current = task('c', ...turn(1, call('d1', 'Write more.md')));
    const facts = summaryFacts([whole, current], { taskId: 'c', turn: 1 }, 10_000);
    expect(facts).toContain('The task b');
    expect(facts).toContain('only copy');
    expect(facts).not.toContain('The task c');
  });

  it('never exceed the limit, and keep the most important first', () => {
    fc.assert(
      fc.property(fc.nat(400), (chars) => {
        expect(summaryFacts([whole], { taskId: 'b', turn: 3 }, chars).length).toBeLessThanOrEqual(chars);
      }),
    );
    const short = summaryFacts([whole], { taskId: 'b', turn: 3 }, 130);
    expect(short).toContain('ask about the licence');
    expect(short).not.toContain('The person approved');
  });
});
