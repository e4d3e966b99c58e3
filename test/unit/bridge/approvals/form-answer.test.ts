import { describe, expect, test } from '@jest/globals';
import { buildFormCandidates, type FormCandidate } from '../../../../bridge/approvals/form.ts';
import { formOutcomeOf } from '../../../../bridge/approvals/form-answer.ts';
import { FORM_ROW_COLUMNS, sentenceRows } from '../../../../bridge/approvals/form-rows.ts';
import type { FormFieldsSetting } from '../../../../bridge/settings/approval-mode.ts';
import { questionWithCode } from '../../../../bridge/dialects/plain-text-question.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';

type FormAsk = Exclude<FormCandidate, { about: 'page' | 'unshown' | 'other-approver' }>;

const asks = (changes: Parameters<typeof pendingWrite>[1], fields: FormFieldsSetting): FormCandidate =>
  only(
    buildFormCandidates({ pending: [pendingWrite('one', changes)], question: null }, () => undefined, {
      fields,
      columns: FORM_ROW_COLUMNS,
    }),
  );
/** Returns a form with the fields that a person can request. */
const asked = (changes: Parameters<typeof pendingWrite>[1] = {}): FormAsk => inForm(asks(changes, 'more'));
const plain = (changes: Parameters<typeof pendingWrite>[1] = {}): FormAsk => inForm(asks(changes, 'none'));
const onPage = (): FormCandidate =>
  asks({ preview: { type: 'command', command: 'x\n'.repeat(40), cwd: '/w' } }, 'none');
const question = (): FormCandidate =>
  only(
    buildFormCandidates(
      { pending: [], question: questionWithCode({ id: 'q', text: 'Which?' }) },
      () => undefined,
    ),
  );
const command = (): FormAsk =>
  asked({ preview: { type: 'command', command: 'ls', cwd: '/w' }, tool: 'run-shell-command' });

const other = (): FormAsk => asked({ preview: { type: 'json', value: {} }, tool: 'search' });

const choosing = (): FormAsk =>
  asked({
    tool: 'ask-person',
    reason: 'question',
    preview: { type: 'question', text: 'Which colour?', choices: [{ label: 'red' }, { label: 'blue' }] },
    decisions: ['answer', 'deny'],
  });

function only([ask, ...others]: readonly FormCandidate[]): FormCandidate {
  if (ask === undefined || others.length > 0) throw new Error('not one');
  return ask;
}

function inForm(ask: FormCandidate): FormAsk {
  if (!('form' in ask)) throw new Error('it does not fit into a form');
  return ask;
}

function shownOf(ask: FormCandidate): string {
  return 'question' in ask ? ask.question.shown : ask.action.shown;
}

const SLOW = { afterMs: 5_000, fastestAnswerMs: 1_000 };
const accept = (content?: unknown): unknown => ({ action: 'accept', content });

test('the form of a question has its text and a field with its choices, and no approval choices', () => {
  const { message, requestedSchema } = choosing().form;
  expect(message).toBe('The agent asks:\n│ Which colour?');
  expect(message).not.toContain('approve');
  expect(requestedSchema).toMatchObject({
    properties: { answer: { enum: ['red', 'blue'] } },
    required: ['answer'],
  });
});

test('D2 the answer to a question is bound to the form that was shown', () => {
  expect(formOutcomeOf(choosing(), accept({ answer: 'red' }), SLOW)).toEqual({
    type: 'decision',
    decision: { type: 'answer', callId: 'one', answer: 'red', shown: 'hash-of-one' },
  });
});

test('R10 an edit of a command changes the command line, and the rest of the input stays', () => {
  const ask = asked({
    preview: { type: 'command', command: 'ls', cwd: '/w' },
    tool: 'run-shell-command',
    input: { command: 'ls', cwd: 'src', timeoutSeconds: 5 },
  });
  expect(ask.form.requestedSchema.properties).toHaveProperty('editedCommand');
  expect(ask.form.requestedSchema.properties).not.toHaveProperty('editedInput');
  expect(formOutcomeOf(ask, accept({ editedCommand: 'ls -l' }), SLOW)).toMatchObject({
    decision: {
      decision: { decision: 'edit', input: { command: 'ls -l', cwd: 'src', timeoutSeconds: 5 } },
    },
  });
});

test('the field for the reason says that a declined form sends none', () => {
  expect(asked().form.requestedSchema.properties).toMatchObject({
    reason: { description: 'Only Accept sends it, also with Deny above.' },
  });
});

test('the choices of a decision have titles, and their values are the decision words', () => {
  expect(asked().form.requestedSchema.properties).toMatchObject({
    decision: {
      enum: ['approve', 'deny', 'edit', 'trust_tool', 'trust_always'],
      enumNames: ['Approve once', 'Deny', 'Use my edit below', 'Trust this tool', 'Trust everything'],
    },
  });
});

test('R67 Claude Code shows each title and description of a form whole, in a window of 60 columns', () => {
  const shell = asked({ preview: { type: 'command', command: 'ls', cwd: '/w' }, input: { command: 'ls' } });
  const fields = [asked(), shell, other()].flatMap((ask) =>
    Object.values(ask.form.requestedSchema.properties),
  );
  for (const field of fields) {
    const { title = '', description = '' } = field;
    expect(title.length).toBeLessThanOrEqual(26);
    expect(description.length).toBeLessThanOrEqual(48);
    // A window of 40 columns cuts a choice after 20 columns.
    for (const name of 'enumNames' in field ? (field.enumNames ?? []) : [])
      expect(name.length).toBeLessThanOrEqual(20);
  }
});

test.each([accept({ decision: 'trust_tool', editedContent: 'hi' }), accept({ trustMinutes: 10 })])(
  'after the answer %j, the next form has one row that says why it did not count',
  (response) => {
    const answer = formOutcomeOf(asked(), response, SLOW);
    if (answer.type !== 'unanswered') throw new Error('it counted');
    expect(sentenceRows(answer.note, FORM_ROW_COLUMNS)).toEqual([answer.note]);
  },
);

describe('the person’s answer in a form', () => {
  test.each<[string, FormCandidate, unknown, object]>([
    ['accepting it as it stands approves', asked(), accept(), { decision: 'approve', scope: 'once' }],
    ['accepting a form without fields approves', plain(), accept({}), { decision: 'approve', scope: 'once' }],
    ['declining a form without fields denies', plain(), { action: 'decline' }, { decision: 'deny' }],
    ['declining to open the page denies', onPage(), { action: 'decline' }, { decision: 'deny' }],
    [
      'empty fields are no words',
      asked(),
      accept({ reason: '', editedContent: null }),
      { decision: 'approve' },
    ],
    ['declining it denies', asked(), { action: 'decline' }, { decision: 'deny' }],
    ['declining a question denies it', choosing(), { action: 'decline' }, { decision: 'deny' }],
    [
      'declining denies whatever was chosen',
      asked(),
      { action: 'decline', content: { decision: 'approve' } },
      { decision: 'deny' },
    ],
    [
      'deny may be chosen, with a reason',
      asked(),
      accept({ decision: 'deny', reason: 'no' }),
      { decision: 'deny', reason: 'no' },
    ],
    [
      'trust reaches further',
      asked(),
      accept({ decision: 'trust_always' }),
      { decision: 'approve', scope: 'always' },
    ],
    [
      'trust lasts for the minutes and the later calls of the form',
      asked(),
      accept({ decision: 'trust_tool', trustMinutes: 10, trustUses: '3' }),
      { decision: 'approve', scope: 'tool', grant: { minutes: 10, uses: 3 } },
    ],
    [
      'empty limits of trust are no limits',
      asked(),
      accept({ decision: 'trust_tool', trustMinutes: null, trustUses: '' }),
      { decision: 'approve', scope: 'tool' },
    ],
    [
      'declining denies, whatever the limits of trust',
      asked(),
      { action: 'decline', content: { trustMinutes: 10 } },
      { decision: 'deny' },
    ],
    [
      'a new text is an edit',
      asked(),
      accept({ decision: 'approve', editedContent: 'hi' }),
      { decision: 'edit', content: 'hi' },
    ],
    [
      'a new text with a no is a no',
      asked(),
      accept({ decision: 'deny', editedContent: 'hi' }),
      { decision: 'deny' },
    ],
    [
      'a new input is an edit',
      command(),
      accept({ editedInput: '{"command":"pwd"}' }),
      { decision: 'edit', input: { command: 'pwd' } },
    ],
  ])('R67 D2 %s, and the decision is bound to the shown action', (_, ask, response, decision) => {
    const answer = formOutcomeOf(ask, response, SLOW);
    expect(answer).toMatchObject({
      type: 'decision',
      decision: { type: 'decision', decision: { callId: 'one', shown: 'hash-of-one', ...decision } },
    });
  });

  test.each<[string, FormCandidate, unknown, string]>([
    ['a cancel', asked(), { action: 'cancel' }, 'cancelled'],
    ['a cancelled page', onPage(), { action: 'cancel' }, 'cancelled'],
    ['a limit of trust without trust', asked(), accept({ trustMinutes: 10 }), 'not understood'],
    [
      'a limit of trust that is no number',
      asked(),
      accept({ decision: 'trust_tool', trustMinutes: 'ten' }),
      'not understood',
    ],
    ['a field that the form has not', plain(), accept({ decision: 'trust_always' }), 'not understood'],
    ['nothing', asked(), undefined, 'not understood'],
    ['another action', asked(), { action: 'yes' }, 'not understood'],
    ['another word', asked(), accept({ decision: 'Approve' }), 'not understood'],
    [
      'a word that this action does not take',
      asked(),
      accept({ decision: 'trust_server' }),
      'not understood',
    ],
    ['a question accepted without an answer', choosing(), accept(), 'not understood'],
    ['an edit that edits nothing', asked(), accept({ decision: 'edit' }), 'not understood'],
    [
      'an edit of what takes none',
      asked({ decisions: ['approve', 'deny'] }),
      accept({ editedContent: 'x' }),
      'not understood',
    ],
    [
      'a new text with trust, which allows only the input as shown,',
      asked(),
      accept({ decision: 'trust_tool', editedContent: 'hi' }),
      'not understood',
    ],
    [
      'a new command with trust, which allows only the input as shown,',
      command(),
      accept({ decision: 'trust_always', editedInput: '{"command":"pwd"}' }),
      'not understood',
    ],
    ['an input that is no JSON', command(), accept({ editedInput: 'pwd' }), 'not understood'],
    ['a question declined', question(), { action: 'decline' }, 'cancelled'],
    ['a question answered with nothing', question(), accept({ answer: '' }), 'not understood'],
  ])('R67 D1 %s decides nothing', (_, ask, response, why) => {
    expect(formOutcomeOf(ask, response, SLOW)).toMatchObject({ type: 'unanswered', why });
  });

  test.each([accept(), { action: 'decline' }])(
    'R67 %j decides nothing if it is faster than a person can be',
    (response) => {
      const at = (afterMs: number | undefined): object =>
        formOutcomeOf(asked(), response, { afterMs, fastestAnswerMs: 1_000 });
      expect(at(999)).toMatchObject({ type: 'unanswered', why: 'too fast' });
      expect(at(1_000)).toMatchObject({ type: 'decision' });
      // An earlier bridge process sent the form, so this bridge does not know its display time.
      expect(at(undefined)).toMatchObject({ type: 'decision' });
    },
  );

  test('D5 an accepted link to the page approves nothing', () => {
    expect(formOutcomeOf(onPage(), accept({}), SLOW)).toEqual({ type: 'opened' });
    expect(formOutcomeOf(onPage(), accept({ decision: 'approve' }), SLOW)).toEqual({ type: 'opened' });
  });

  test('R67 the answer to a question is text', () => {
    expect(formOutcomeOf(question(), accept({ answer: 'the left' }), SLOW)).toEqual({
      type: 'decision',
      decision: { type: 'answer', callId: 'q', shown: shownOf(question()), answer: 'the left' },
    });
  });
});
