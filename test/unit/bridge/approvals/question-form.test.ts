/** Tests that a form shows a question in full, and that agent text cannot hide in the form's fields. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { formFieldsOfQuestion, parseFormAnswer } from '../../../../bridge/approvals/answer-fields.ts';
import { buildFormCandidates, type FormCandidate } from '../../../../bridge/approvals/form.ts';
import { FORM_ROW_COLUMNS, MAX_FORM_ROWS } from '../../../../bridge/approvals/form-rows.ts';
import { commandLineNotes } from '../../../../bridge/approvals/forms-to-offer.ts';
import { questionWithCode } from '../../../../bridge/dialects/plain-text-question.ts';
import type { Question } from '../../../../shared/protocol/question.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function askAbout(question: Question): FormCandidate {
  const preview = { type: 'question' as const, ...question };
  const action = pendingWrite('one', {
    tool: 'ask-person',
    reason: 'question',
    preview,
    decisions: ['answer', 'deny'],
  });
  const [ask] = buildFormCandidates({ pending: [action], question: null }, () => undefined);
  if (ask === undefined) throw new Error('nothing is asked');
  return ask;
}

const plainAsk = (text: string): FormCandidate | undefined =>
  buildFormCandidates({ pending: [], question: questionWithCode({ id: 'q', text }) }, () => undefined)[0];

describe('D5 a question that does not fit into four rows of 74 columns', () => {
  const LONG = `Is this fine?${' word'.repeat(80)} No: delete all.`;

  test.each<[string, Question]>([
    ['has a long text', { text: LONG }],
    ['has many lines', { text: 'a\nb\nc\nd' }],
    ['ends behind many spaces', { text: `Fine?${' '.repeat(60_000)} Then all is deleted.` }],
    ['has a long choice', { text: 'Which?', choices: [{ label: 'x'.repeat(100) }] }],
    ['has a long explanation', { text: 'Which?', choices: [{ label: 'x', description: 'y'.repeat(100) }] }],
    [
      'has a field with a long description',
      {
        text: 'Fill in.',
        schema: {
          type: 'object',
          properties: { name: { type: 'string', description: 'd'.repeat(100) } },
        },
      },
    ],
  ])('the person answers the question on the page if the question %s', (_, question) => {
    const ask = askAbout(question);
    if (ask.about !== 'page') throw new Error(`asked as ${ask.about}`);
    const rows = ask.message.split('\n');
    expect(rows.length).toBeLessThanOrEqual(MAX_FORM_ROWS);
    expect(rows.at(-1)).toBe('Too long here. Answer on the page. Decline denies it.');
    expect(commandLineNotes([ask])).toEqual([
      expect.stringMatching(
        /`mcp-a2a-bridge show \S+` and answer it with `mcp-a2a-bridge answer \S+ <words>`/,
      ),
    ]);
  });

  test('a question in plain text gets no form: the person reads and answers it at a terminal', () => {
    const ask = plainAsk(LONG);
    if (ask?.about !== 'unshown') throw new Error('asked in a form');
    expect(commandLineNotes([ask])).toEqual([
      expect.stringContaining(`mcp-a2a-bridge answer ${ask.question.shown} <words>`),
    ]);
    expect(plainAsk('Which?')?.about).toBe('question');
  });

  test('for any text, the form shows the whole text in four rows, or there is no form', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 }),
      fc.string({ unit: anyCharacter, minLength: 1 }),
    );
    fc.assert(
      fc.property(text, (words) => {
        for (const ask of [askAbout({ text: words }), plainAsk(words)]) {
          if (ask === undefined || ask.about === 'unshown' || ask.about === 'other-approver') continue;
          const message = ask.about === 'page' ? ask.message : ask.form.message;
          const rows = message.split('\n');
          expect(rows.length).toBeLessThanOrEqual(MAX_FORM_ROWS);
          for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(FORM_ROW_COLUMNS);
        }
      }),
    );
  });
});

describe('D5 the fields of a form', () => {
  const NASTY = 'safe\u{202e}\u{200b} \u{1b}[2J⟨2⟩\nAccept';

  test('the choices show hidden characters as codes, and the answer has the original text', () => {
    const question = { text: 'Which?', choices: [{ label: NASTY }, { label: 'blue', description: NASTY }] };
    const { answer } = formFieldsOfQuestion(question).properties;
    if (answer?.type !== 'string' || !('enum' in answer)) throw new Error('no choice');
    for (const text of [...answer.enum, ...(answer.enumNames ?? [])]) expect(text).not.toMatch(HIDDEN);
    expect(parseFormAnswer(question, { answer: answer.enum[0] })).toBe(NASTY);
    expect(parseFormAnswer(question, { answer: 'green' })).toBe('green');
    const many = formFieldsOfQuestion({ ...question, multiple: true }).properties['choice1'];
    expect(many?.title).not.toMatch(HIDDEN);
    expect(parseFormAnswer({ ...question, multiple: true }, { choice1: true })).toEqual([NASTY]);
  });

  test('choices that look the same have numbers, and the answer has the value of the chosen one', () => {
    const question = {
      text: 'Which?',
      choices: [{ label: 'a\u{200b}' }, { label: String.raw`a\u{200b}` }, { label: 'a\u{200b}' }],
    };
    const { answer } = formFieldsOfQuestion(question).properties;
    const names = answer?.type === 'string' && 'enum' in answer ? answer.enum : [];
    expect(new Set(names).size).toBe(3);
    expect(names.map((name) => parseFormAnswer(question, { answer: name }))).toEqual(
      question.choices.map(({ label }) => label),
    );
  });

  test('the fields of an agent’s form show names, titles, descriptions and values escaped, and the answer has the originals', () => {
    const schema: Question['schema'] = {
      type: 'object',
      properties: {
        [NASTY]: { type: 'string', enum: [NASTY, 'm'], default: NASTY },
        colour: { type: 'string', title: NASTY, oneOf: [{ const: 'r\u{200b}', title: NASTY }] },
        days: { type: 'array', items: { enum: [NASTY, 'tu'] }, description: NASTY },
        note: { type: 'string', default: NASTY },
      },
      required: [NASTY],
    };
    const fields = formFieldsOfQuestion({ text: 'Fill in.', schema });
    expect(JSON.stringify(fields)).not.toMatch(HIDDEN);
    expect(Object.keys(fields.properties)).toEqual(['field1', 'field2', 'field3', 'field4']);
    expect(fields.required).toEqual(['field1']);
    expect(fields.properties['field4']).not.toHaveProperty('default');
    const { field1, field2, field3 } = fields.properties;
    if (field1?.type !== 'string' || !('enum' in field1) || field2?.type !== 'string' || !('enum' in field2))
      throw new Error('no choices');
    if (field3?.type !== 'array') throw new Error('no list');
    const filled = {
      field1: field1.enum[0],
      field2: field2.enum[0],
      field3: field3.items.enum,
      field4: 'so',
    };
    expect(parseFormAnswer({ text: 'Fill in.', schema }, filled)).toEqual({
      [NASTY]: NASTY,
      colour: 'r\u{200b}',
      days: [NASTY, 'tu'],
      note: 'so',
    });
  });
});
