/** Tests that a form says how many further forms follow. */
import { expect, test } from '@jest/globals';
import { buildFormCandidates } from '../../../../bridge/approvals/form.ts';
import { FORM_ROW_COLUMNS, MAX_FORM_ROWS } from '../../../../bridge/approvals/form-rows.ts';
import { questionWithCode } from '../../../../bridge/dialects/plain-text-question.ts';
import type { PendingAction } from '../../../../shared/protocol/tool-approval.ts';
import { displayWidth } from '../../../../bridge/text/display-width.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';

const command = (callId: string, text: string, cwd = '/w'): PendingAction =>
  pendingWrite(callId, {
    tool: 'run-shell-command',
    preview: { type: 'command', command: text, cwd },
  });
const edit = (callId: string, lines = 1, path = 'a.txt'): PendingAction =>
  pendingWrite(callId, {
    preview: {
      type: 'diff',
      path,
      diff: `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${String(lines)} @@\n${'+x\n'.repeat(lines)}`,
    },
  });
const question = (callId: string): PendingAction =>
  pendingWrite(callId, {
    tool: 'ask-person',
    reason: 'question',
    preview: { type: 'question', text: 'Which colour?' },
    decisions: ['answer', 'deny'],
  });

const candidates = (
  ...pending: PendingAction[]
): readonly { key: string; callId: string; message: string }[] =>
  buildFormCandidates({ pending, question: null }, () => undefined).map((ask) => ({
    key: ask.key,
    callId: ask.callId,
    message: 'form' in ask ? ask.form.message : 'message' in ask ? ask.message : '',
  }));
const messages = (...pending: PendingAction[]): string[] =>
  candidates(...pending).map(({ message }) => message);

test('each form says how many follow, and the last one says nothing', () => {
  expect(messages(edit('one'), question('two'), command('three', 'ls'), edit('four', 9))).toEqual([
    'Create a.txt: +1 (then 3 more)\n+ x',
    'The agent asks (then 2 more):\n│ Which colour?',
    '$ ls\nin /w (then 1 more)',
    'Create a.txt: +9\nToo long here. Decide on the page. Decline denies it.',
  ]);
});

test('a form that leads to the page says it too', () => {
  expect(messages(edit('one', 9), edit('two'))[0]).toBe(
    'Create a.txt: +9 (then 1 more)\nToo long here. Decide on the page. Decline denies it.',
  );
});

test('a plain-text question follows its actions', () => {
  const [first] = buildFormCandidates(
    { pending: [command('one', 'ls')], question: questionWithCode({ id: 'q', text: 'Why?' }) },
    () => undefined,
  );
  expect(first).toMatchObject({ form: { message: '$ ls\nin /w (then 1 more)' } });
});

test('an action that this person cannot approve gets no form, and does not count', () => {
  const other = command('two', 'ls');
  expect(
    messages(command('one', 'ls'), { ...other, approver: { groups: ['leads'] }, decisions: ['deny'] })[0],
  ).toBe('$ ls\nin /w');
});

test('without room in its row, the number has a row of its own', () => {
  const place = `/${'d'.repeat(60)}`;
  expect(messages(command('one', 'ls', place), edit('two'))[0]).toBe(`$ ls\nin ${place}\n(then 1 more)`);
});

test('D5 the number never takes a row of the action', () => {
  const place = `/${'d'.repeat(60)}`;
  const [message = ''] = messages(command('one', 'a\nb\nc', place), edit('two'));
  expect(message).toBe(`$ a\n> b\n> c\nin ${place}`);
  for (const row of message.split('\n')) expect(displayWidth(row)).toBeLessThanOrEqual(FORM_ROW_COLUMNS);
  expect(message.split('\n')).toHaveLength(MAX_FORM_ROWS);
});

const withTask = (task: string | undefined, action: PendingAction) => {
  const [ask] = buildFormCandidates({ pending: [action], question: null }, () => undefined, {
    fields: 'none',
    columns: FORM_ROW_COLUMNS,
    task,
  });
  return { key: ask?.key, message: ask !== undefined && 'form' in ask ? ask.form.message : '' };
};

test('a form names its task if the client has several, and its key stays the same', () => {
  const named = withTask('Tidy\u202e the\nrepository', command('one', 'ls'));
  expect(named.message).toBe('Task: Tidy\\u{202e} the⏎repository\n$ ls\nin /w');
  expect(named.key).toBe(withTask(undefined, command('one', 'ls')).key);
  expect(withTask('Ask', question('two')).message).toBe('Task: Ask\nThe agent asks:\n│ Which colour?');
  const [row = ''] = withTask('t'.repeat(200), command('one', 'ls')).message.split('\n');
  expect(displayWidth(row)).toBeLessThanOrEqual(FORM_ROW_COLUMNS);
});

test('D5 the name of the task never takes a row of the action', () => {
  expect(withTask('Tidy', command('one', 'a\nb\nc')).message).toBe('$ a\n> b\n> c\nin /w');
});

test('the key of a form stays the same when a later action is decided elsewhere', () => {
  const all = candidates(edit('one'), question('two'), edit('three', 9), command('four', 'ls'));
  for (const { key, callId } of candidates(edit('one')).concat(candidates(question('two'), edit('three', 9))))
    expect(all.find((each) => each.callId === callId)?.key).toBe(key);
});
