import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RequestedCall, TaskEvent } from '../../../../../a2a-server/task/events.ts';
import type { Snapshot } from '../../../../../a2a-server/task/snapshot.ts';
import { summaryFacts } from '../../../../../a2a-server/task/conversation/summary-facts.ts';
import { created, message, working } from '../../../../support/journal-samples.ts';
import { foldedTask, decidedEvent, turnEventsWith, ranCall } from '../../../../support/folded-task.ts';
import { request } from '../../../../support/task-machine.ts';

const call = (callId: string, title: string, more: Partial<RequestedCall> = {}): RequestedCall => ({
  ...request(callId, false),
  title,
  input: {},
  ...more,
});

/** Returns the events of one turn with one call. */
const turn = (number: number, requested: RequestedCall, ...after: TaskEvent[]): TaskEvent[] => [
  ...turnEventsWith([{ call: requested, ask: true }], { turn: number }),
  ...after,
];

function decided(
  { callId, tool, title }: RequestedCall,
  decision: 'approve' | 'deny',
  reason: string | null = null,
): TaskEvent {
  return decidedEvent(callId, { tool, title, decision, reason });
}

function task(taskId: string, ...events: TaskEvent[]): Snapshot {
  return foldedTask([created('s'), message(`The task ${taskId}`, taskId), working, ...events], taskId);
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

/** Returns a call that asks the person. */
const ask = (callId: string, text: string): RequestedCall =>
  call(callId, `Ask: ${text}`, {
    tool: 'ask-person',
    sideEffect: 'none',
    preview: { type: 'question', text },
  });

/** Returns the events of a turn that reads one file or page. */
const read = (number: number, path: string, more: Partial<RequestedCall> = {}): TaskEvent[] => {
  const callId = `r${String(number)}`;
  const requested = call(callId, `Read ${path}`, {
    tool: 'read-file',
    sideEffect: 'none',
    input: { path },
    ...more,
  });
  return turn(number, requested, ...ranCall(requested, 'x'));
};

describe('the facts that accompany a summary', () => {
  it('the facts are the to-do list, the later messages, the refusals, the changed files and the approvals', () => {
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

  it('the facts omit the turns that stay in the conversation', () => {
    const facts = summaryFacts([whole], { taskId: 'b', turn: 1 }, 10_000);
    expect(facts).toContain('notes.md');
    expect(facts).not.toContain('old.txt');
    expect(facts).not.toContain('licence');
  });

  it('the facts include the earlier tasks of the session with their first messages', () => {
    const current = task('c', ...turn(1, call('d1', 'Write more.md')));
    const facts = summaryFacts([whole, current], { taskId: 'c', turn: 1 }, 10_000);
    expect(facts).toContain('The task b');
    expect(facts).toContain('only copy');
    expect(facts).not.toContain('The task c');
  });

  it('the facts include each question that has no answer, and the questions in the answers of the agent', () => {
    const declined = ask('q1', 'Which licence do you want?');
    const answered = ask('q2', 'Which language?');
    const said: TaskEvent[] = [
      { type: 'turn.started', turn: 3, model: 'm' },
      {
        type: 'text.delta',
        turn: 3,
        text: 'Both are written. Should old.txt go too? I keep it.\n```js\nok ? 1 : 2?\n```\n- Who reads **notes.md?**',
      },
      { type: 'turn.finished', turn: 3, end: 'stop', usage: { inputTokens: 1, outputTokens: 1 } },
      message('Later.', 'later'),
    ];
    const asked = task(
      'b',
      ...turn(1, declined, decided(declined, 'deny', 'I ask our lawyer.')),
      ...turn(
        2,
        answered,
        decidedEvent('q2', {
          tool: 'ask-person',
          title: answered.title,
          decision: 'answer',
          answer: 'English',
        }),
      ),
      ...said,
    );
    const facts = summaryFacts([asked], { taskId: 'b', turn: 3 }, 10_000);
    expect(facts).toContain(
      [
        'Questions without an answer:',
        '- Which licence do you want? (declined: I ask our lawyer.)',
        'The agent asked in its answers:',
        '- Should old.txt go too?',
        '- Who reads **notes.md?**',
      ].join('\n'),
    );
    expect(facts).toContain('- Which language? — English');
  });

  it('the facts include files that were only read, keep the newest ones, and say how many are not listed', () => {
    const paths = Array.from({ length: 40 }, (_, index) => `src/file-${String(index + 10)}.ts`);
    const all = task('b', ...[...paths, 'src/file-10.ts'].flatMap((path, index) => read(index + 1, path)));
    const upTo = { taskId: 'b', turn: 41 };
    const full = summaryFacts([all], upTo, 10_000);
    for (const path of paths) expect(full).toContain(path);
    const short = summaryFacts([all], upTo, 320);
    expect(short).toMatch(/^Files and pages that were only read:\n- \(\d+ earlier ones are not listed\)\n/);
    expect(short).toContain('src/file-49.ts\n- src/file-10.ts');
    expect(summaryFacts([all], upTo, 60)).toBe('Files and pages that were only read: 40, not listed.');
  });

  it('the facts include pages that the agent fetched, and files that read-only tools of MCP servers returned', () => {
    const source = { type: 'mcp-server' as const, server: 'files' };
    const all = task(
      'b',
      ...read(1, 'page', { tool: 'fetch', sideEffect: 'network', input: { url: 'https://example.com/a' } }),
      ...read(2, 'one', { tool: 'files__read', source, input: { file_path: 'one.md', tail: 3 } }),
      ...read(3, 'many', { tool: 'files__read_all', source, input: { paths: ['two.md', 'three.md'] } }),
      ...read(4, 'written', { tool: 'files__w', source, sideEffect: 'other', input: { path: 'four.md' } }),
      ...read(5, 'listed', { tool: 'list-files', input: { path: 'src' } }),
    );
    expect(summaryFacts([all], { taskId: 'b', turn: 5 }, 10_000)).toBe(
      [
        'Files and pages that were only read:',
        '- https://example.com/a',
        '- one.md',
        '- two.md',
        '- three.md',
      ].join('\n'),
    );
  });

  it('the facts keep a share for each kind, so that many messages do not replace decisions, questions and files', () => {
    const long = Array.from({ length: 60 }, (_, index) =>
      message('Please note. '.repeat(20), `m${String(index)}`),
    );
    const full = task('a', ...turn(1, write, ...long), { type: 'task.completed' });
    const facts = summaryFacts([full, whole], { taskId: 'b', turn: 3 }, 2_000);
    for (const fact of ['ask about the licence', 'only copy', 'notes.md', 'Write notes.md'])
      expect(facts).toContain(fact);
    expect(facts).toContain('earlier ones are not listed');
    expect(facts.length).toBeLessThanOrEqual(2_000);
  });

  it('the facts never exceed the limit, and keep the most important ones first', () => {
    fc.assert(
      fc.property(fc.nat(400), (chars) => {
        expect(summaryFacts([whole], { taskId: 'b', turn: 3 }, chars).length).toBeLessThanOrEqual(chars);
      }),
    );
    // Each of these characters has three or four bytes.
    const foreign = task('a', ...turn(1, call('c9', '書く'), message('これを覚えてください。🦉', 'm9')));
    fc.assert(
      fc.property(fc.nat(400), (bytes) => {
        const facts = summaryFacts([foreign, whole], { taskId: 'b', turn: 3 }, bytes);
        expect(Buffer.byteLength(facts)).toBeLessThanOrEqual(bytes);
      }),
    );
    const short = summaryFacts([whole], { taskId: 'b', turn: 3 }, 130);
    expect(short).toContain('ask about the licence');
    expect(short).not.toContain('The person approved');
  });
});

it('the facts contain no message whose answer a provider withheld, and nothing of that answer', () => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const refused = task(
    'a',
    { type: 'turn.started', turn: 1, model: 'm' },
    { type: 'text.delta', turn: 1, text: 'May I ' },
    { type: 'text.delta', turn: 1, text: 'begin?' },
    { type: 'turn.finished', turn: 1, end: 'content-filter', usage },
  );
  const good = task(
    'b',
    { type: 'turn.started', turn: 1, model: 'm' },
    { type: 'text.delta', turn: 1, text: 'Done.' },
    { type: 'turn.finished', turn: 1, end: 'stop', usage },
  );
  const facts = summaryFacts([refused, good, task('c')], { taskId: 'b', turn: 1 }, 2_000);
  expect(facts).toContain('The task b');
  expect(facts).not.toContain('The task a');
  expect(facts).not.toContain('begin?');
});
