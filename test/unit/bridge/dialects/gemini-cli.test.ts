import { describe, expect, test } from '@jest/globals';
import { questionWithCode } from '../../../../bridge/dialects/plain-text-question.ts';
import { Role, type StreamResponse, TaskState } from '@a2a-js/sdk';
import type { Message, Part } from '@a2a-js/sdk';
import { geminiDialect } from '../../../../bridge/dialects/gemini-cli.ts';
import { pendingActionOf, geminiToolCallIn } from '../../../../bridge/dialects/gemini-tool-call.ts';
import type { PendingAction } from '../../../../shared/protocol/tool-approval.ts';
import { part, agentMessage } from '../../../support/fake-agent-task.ts';

const words = (value: string): Part => part({ $case: 'text', value });
const data = (value: unknown): Part => part({ $case: 'data', value });
const message = (parts: Part[], role = Role.ROLE_AGENT, messageId = 'm'): Message =>
  agentMessage(parts, { role, messageId });

const update = (
  kind: string | null,
  parts: Part[] = [],
  state: TaskState = TaskState.TASK_STATE_WORKING,
  more: object = {},
): StreamResponse => ({
  payload: {
    $case: 'statusUpdate',
    value: {
      taskId: 't',
      contextId: 's',
      status: { state, timestamp: undefined, message: parts.length === 0 ? undefined : message(parts) },
      metadata: kind === null ? undefined : { coderAgent: { kind }, ...more },
    },
  },
});
const task = (state: TaskState, history: Message[], said?: Message): StreamResponse => ({
  payload: {
    $case: 'task',
    value: {
      id: 't',
      contextId: 's',
      status: { state, timestamp: undefined, message: said },
      artifacts: [],
      history,
      metadata: undefined,
    },
  },
});

const artifact = (artifactId: string): StreamResponse => ({
  payload: {
    $case: 'artifactUpdate',
    value: {
      taskId: 't',
      contextId: 's',
      artifact: {
        artifactId,
        name: '',
        description: '',
        parts: [words('line')],
        metadata: undefined,
        extensions: [],
      },
      append: true,
      lastChunk: false,
      metadata: undefined,
    },
  },
});

const call = (status: string, more: object = {}) => ({
  request: { callId: 'c', name: 'write_file', args: { file_path: '/w/a.md' } },
  status,
  ...more,
});
const edit = { type: 'edit', fileName: 'a.md', filePath: '/w/a.md', fileDiff: '+a', originalContent: null };
const observed = (event: StreamResponse) => geminiDialect.read(event).observations;
const types = (event: StreamResponse) => observed(event).map((each) => each.type);

function waiting(details: object, args: object = {}, name = 'tool'): PendingAction {
  const parsed = geminiToolCallIn({
    request: { callId: 'c', name, args },
    status: 'awaiting_approval',
    confirmationDetails: details,
  });
  if (parsed === undefined) throw new Error('no tool call');
  return pendingActionOf(parsed);
}

const decide = (action: PendingAction, decision: object) =>
  geminiDialect.phraseDecisions(
    [
      {
        type: 'decision',
        decision: { callId: 'c', shown: action.shown, decision: 'approve', scope: 'once', ...decision },
      },
    ],
    { pending: [action], question: null },
    'tool',
  );

const sent = (action: PendingAction, decision: object): unknown =>
  decide(action, decision).parts.map((each) =>
    each.content?.$case === 'data' ? each.content.value : null,
  )[0];

describe('events of gemini-cli', () => {
  test('a waiting call becomes a question although the task state is "working"', () => {
    const event = update('tool-call-confirmation', [
      data(call('awaiting_approval', { confirmationDetails: edit })),
    ]);
    expect(observed(event)).toMatchObject([
      { type: 'moving' },
      {
        type: 'asked',
        action: { callId: 'c', title: 'write_file a.md', preview: { type: 'diff', diff: '+a' } },
      },
      { type: 'activity', activity: { type: 'tool.requested', asks: true } },
    ]);
  });

  test('a running call counts as progress although the task state is "input-required"', () => {
    const event = update('tool-call-update', [data(call('executing'))], TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(observed(event)).toMatchObject([
      { type: 'moving' },
      { type: 'activity', activity: { type: 'tool.started', toolId: 'c' } },
    ]);
  });

  test.each([
    ['success', { resultDisplay: 'fine' }, 'ok', 'fine'],
    ['error', { error: { message: 'broken' } }, 'error', 'broken'],
    ['cancelled', { resultDisplay: '[Operation Cancelled]' }, 'stopped', '[Operation Cancelled]'],
    ['success', { resultDisplay: { fileDiff: '+a' } }, 'ok', ''],
  ])('a call that ends with %s has this outcome', (status, response, outcome, summary) => {
    expect(observed(update('tool-call-update', [data(call(status, { response }))]))).toMatchObject([
      { type: 'moving' },
      { type: 'activity', activity: { type: 'tool.finished', outcome, summary } },
    ]);
  });

  test('X3 only the end of a long result is kept', () => {
    const response = { resultDisplay: `${'x'.repeat(100_000)}the end` };
    const [, ended] = observed(update('tool-call-update', [data(call('success', { response }))]));
    const summary =
      ended?.type === 'activity' && ended.activity.type === 'tool.finished' ? ended.activity.summary : '';
    expect(summary.length).toBeLessThan(3_000);
    expect(summary).toMatch(/the end$/);
  });

  test('J3 later events about calls have no effect after the task’s end', () => {
    const event = update('tool-call-update', [data(call('cancelled'))], TaskState.TASK_STATE_CANCELED);
    expect(types(event)).toEqual(['activity']);
  });

  test('text becomes the answer, a thought becomes progress, and a citation is kept apart from the answer', () => {
    expect(observed(update('text-content', [words('Hel')]))).toMatchObject([
      { type: 'moving' },
      { type: 'said', text: 'Hel' },
    ]);
    expect(observed(update('thought', [data({ subject: 'Plan', description: 'first a file' })]))).toEqual([
      { type: 'moving', taskId: 't', sessionId: 's', text: 'Plan: first a file' },
    ]);
    expect(observed(update('citation', [words('From X')]))).toMatchObject([
      { type: 'moving' },
      { type: 'output', output: { text: 'From X' } },
    ]);
  });

  test('"input-required" ends a turn only if the state has changed to it', () => {
    const state = TaskState.TASK_STATE_INPUT_REQUIRED;
    expect(observed(update('state-change', [], state))).toMatchObject([
      { type: 'turn-ended', question: null, told: true },
    ]);
    expect(observed(update('state-change', [words('Execution aborted by client.')], state))).toMatchObject([
      { type: 'turn-ended', question: { id: 'm', text: expect.stringContaining('aborted by client') } },
    ]);
    expect(types(update('text-content', [words('x')], state))).toEqual(['moving', 'said']);
  });

  test('a model error is a failure of the turn, and the task’s end is its end', () => {
    const event = update('state-change', [words('Agent Error')], undefined, { error: 'quota' });
    expect(types(event)).toEqual(['moving', 'troubled']);
    expect(observed(update('state-change', [words('no')], TaskState.TASK_STATE_FAILED))).toMatchObject([
      { type: 'status', state: 'failed', text: 'no' },
    ]);
  });

  test('tool output belongs to the call, and any other artifact belongs to the result', () => {
    expect(observed(artifact('tool-c-1-output'))).toMatchObject([
      { type: 'tool-output', callId: 'c-1', text: 'line' },
    ]);
    expect(types(artifact('report'))).toEqual(['output']);
  });

  test('an unknown kind of event appears as text, and an event without a kind is read like any agent’s event', () => {
    expect(observed(update('new-kind', [words('news')]))).toMatchObject([{ type: 'moving', text: 'news' }]);
    expect(observed(update(null, [words('Task not found')], TaskState.TASK_STATE_FAILED))).toMatchObject([
      { type: 'status', state: 'failed', text: 'Task not found' },
    ]);
    expect(observed({ payload: undefined })).toEqual([]);
  });

  test('X3 an unknown kind of confirmation, and data that is not a call, cause no error', () => {
    expect(waiting({ type: 'sandbox_expansion', paths: ['/etc'] })).toMatchObject({
      preview: { type: 'json', value: { type: 'sandbox_expansion', paths: ['/etc'] } },
      decisions: ['approve', 'deny'],
      scopes: ['once'],
    });
    expect(types(update('tool-call-update', [data({ request: 7 })]))).toEqual(['moving']);
    expect(types(update('thought', [data([1])]))).toEqual(['moving']);
  });
});

describe('a snapshot of gemini-cli’s task', () => {
  const person = message([words('do it')], Role.ROLE_USER, 'u');
  const asks = message([data(call('awaiting_approval', { confirmationDetails: edit }))], undefined, 'c1');
  const says = message([words('I do.')], undefined, 'w');
  const state = TaskState.TASK_STATE_INPUT_REQUIRED;

  test('the snapshot contains the waiting calls as questions, and the text so far', () => {
    expect(observed(task(state, [person, says, asks]))).toMatchObject([
      { type: 'account', text: 'I do.' },
      { type: 'asked' },
      { type: 'activity' },
      { type: 'turn-ended', question: null, told: true },
    ]);
  });

  test('the last state of each call counts: a running call does not end the turn', () => {
    const runs = message([data(call('executing'))], undefined, 'c2');
    const seen = types(task(state, [person, asks, runs]));
    expect(seen).toEqual(['moving', 'account', 'activity']);
  });

  test('only the current turn counts', () => {
    const seen = observed(task(state, [person, asks, { ...person, messageId: 'u2' }, says]));
    expect(seen.map((each) => each.type)).toEqual(['account', 'turn-ended']);
  });

  test('a turn that was interrupted says so; after a forgotten turn the person is asked to check', () => {
    const aborted = message([words('Execution aborted by client.')], undefined, 'x');
    expect(observed(task(state, [person, says, aborted], aborted))).toMatchObject([
      { type: 'account', text: 'I do.' },
      { type: 'turn-ended', question: { id: 'x', text: expect.stringContaining('aborted') }, told: true },
    ]);
    expect(observed(task(state, []))).toMatchObject([
      { type: 'account' },
      { type: 'turn-ended', question: { text: expect.stringContaining('does not report how') }, told: false },
    ]);
  });
});

describe('messages to gemini-cli', () => {
  const onFile = waiting(edit, {}, 'write_file');
  const onCommand = waiting({ type: 'exec', command: 'ls -l', rootCommand: 'ls' });
  const onServer = waiting({ type: 'mcp', serverName: 'git', toolName: 'log' });
  const onPage = waiting({ type: 'info', prompt: 'Fetch', urls: ['https://example.com'] });

  test.each([
    [onFile, { scope: 'once' }, { outcome: 'proceed_once' }],
    [onFile, { decision: 'deny' }, { outcome: 'cancel' }],
    [onFile, { decision: 'edit', content: 'b' }, { outcome: 'cancel' }],
    [onCommand, { decision: 'edit', content: 'ls' }, { outcome: 'cancel' }],
    [onFile, { scope: 'always' }, { outcome: 'proceed_always' }],
    [onCommand, { scope: 'tool' }, { outcome: 'proceed_always' }],
    [onCommand, { scope: 'always' }, { outcome: 'proceed_always' }],
    [onServer, { scope: 'tool' }, { outcome: 'proceed_always_tool' }],
    [onServer, { scope: 'server' }, { outcome: 'proceed_always_server' }],
    [onServer, { scope: 'always' }, { outcome: 'proceed_always_server' }],
    [onPage, { scope: 'always' }, { outcome: 'proceed_always' }],
  ])('decision %# is sent in gemini-cli’s format', (action, decision, outcome) => {
    expect(sent(action, decision)).toEqual({ callId: 'c', ...outcome });
  });

  test.each([
    [onFile, { scope: 'tool' }, /"trust_always", which stops asking for all file edits/],
    [onFile, { scope: 'server' }, /has no trust of this scope/],
    [onPage, { scope: 'tool' }, /and for file edits/],
    [onFile, { shown: 'what was shown before' }, /has changed since it was shown/],
    [onFile, { callId: 'other' }, /Waiting: "c"/],
  ])('D1 decision %# is refused, and nothing is sent', (action, decision, says) => {
    expect(() => sent(action, decision)).toThrow(says);
  });

  test.each([
    [
      onFile,
      { content: 'b\n' },
      'Instead of "write_file a.md", make this the whole content of /w/a.md:\n\nb\n',
    ],
    [onFile, { content: '' }, 'Instead of "write_file a.md", make /w/a.md an empty file.'],
    [onCommand, { content: 'ls' }, 'Instead of "ls -l", run exactly this command in the workspace:\n\nls'],
    [onServer, { content: 'x' }, 'Instead of "log of MCP server git", do this:\n\nx'],
    [
      onServer,
      { input: { n: 1 } },
      'Instead of "log of MCP server git", call tool with exactly this input:\n\n{\n  "n": 1\n}',
    ],
  ])('edit %#: the call is denied, and the change follows as a message', (action, edited, afterwards) => {
    const phrase = decide(action, { decision: 'edit', ...edited });
    expect(phrase.afterwards).toBe(afterwards);
    expect(phrase.notes).toEqual([expect.stringContaining('cannot run an edited call')]);
    expect(action.decisions).toEqual(['approve', 'deny']);
  });

  test('D2 two different shown contents have different codes', () => {
    expect(waiting(edit, {}, 'write_file').shown).toBe(onFile.shown);
    expect(waiting({ ...edit, fileDiff: '+b' }).shown).not.toBe(onFile.shown);
    expect(sent(onFile, { shown: onFile.shown })).toMatchObject({ outcome: 'proceed_once' });
  });

  test('an answer is sent as text, and only if a question waits', () => {
    const question = questionWithCode({ id: 'q', text: '?' });
    const { shown } = question;
    const answer = { type: 'answer', callId: 'q', shown, answer: 'go on' } as const;
    expect(geminiDialect.phraseDecisions([answer], { pending: [], question }, 'tool').parts).toMatchObject([
      { content: { $case: 'text', value: 'go on' } },
    ]);
    expect(() =>
      geminiDialect.phraseDecisions([answer], { pending: [onFile], question: null }, 'tool'),
    ).toThrow(/approve or deny/);
  });

  test('a workspace is sent with the delegated task; without a workspace no settings are sent', () => {
    expect(geminiDialect.phraseTask('go', { workspace: '/w', autoExecute: true }).metadata).toEqual({
      coderAgent: { kind: 'agent-settings', workspacePath: '/w', autoExecute: true },
    });
    expect(geminiDialect.phraseTask('go', {}).metadata).toBeUndefined();
  });

  test('the decided calls can be read from a message', () => {
    const { decidedBy, approvedBy } = geminiDialect.hazards;
    expect(approvedBy?.(decide(onFile, {}).parts)).toEqual(['c']);
    expect(approvedBy?.(decide(onFile, { decision: 'deny' }).parts)).toEqual([]);
    expect(decidedBy?.(decide(onFile, {}).parts)).toEqual(['c']);
    expect(decidedBy?.([words('go on'), data({ callId: 'c' })])).toEqual([]);
  });

  test('each kind of action has its preview', () => {
    expect(onCommand).toMatchObject({
      title: 'ls -l',
      sideEffect: 'command',
      preview: { type: 'command', command: 'ls -l' },
    });
    expect(onServer).toMatchObject({
      source: { type: 'mcp-server', server: 'git' },
      title: 'log of MCP server git',
    });
    expect(onPage).toMatchObject({
      sideEffect: 'network',
      preview: { type: 'url', url: 'https://example.com' },
    });
  });
});
