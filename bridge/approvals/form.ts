/**
 * What a person is asked in a form: a pending action with its preview, or a question. Pure.
 *
 * Accepting the form as it stands approves, declining it denies: all fields but the answer to a question are optional. To
 * decline a question that waits as a pending action is to tell the agent that there is no answer.
 */
import { createHash } from 'node:crypto';
import type { Question as AskedQuestion } from '../../shared/protocol/question.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { Asked } from '../dialects/dialect.ts';
import type { Question } from '../dialects/observation.ts';
import { decisionWordsFor, previewText, sourceText } from '../results/session-report.ts';
import { answerFields } from './answer-fields.ts';
import type { McpDecisionWord } from './decision-words.ts';
import type { Field, Form } from './form-field.ts';

/** One thing a person is asked. */
export type Ask = {
  /** Names the form: another form has another key, and a key never stands for two (the tasks extension, "Task Update Requests"). */
  key: string;
  callId: string;
  form: Form;
} & (
  | { about: 'action'; action: PendingAction; words: readonly McpDecisionWord[] }
  /** A question that is a pending action: it may be declined, and its answer is checked by the agent. */
  | { about: 'asked'; action: PendingAction; asked: AskedQuestion }
  /** A question in plain words. */
  | { about: 'question'; question: Question }
);

/** How often it was asked before without an answer that counts, and what was wrong with the last. */
export interface Before {
  times: number;
  note: string;
}

/** Characters of a preview that a form shows. */
const SHOWN = 20_000;
/** Control characters would let a preview rewrite the terminal it is shown in. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** What is asked at the moment, in the agent's order. @param before what is known of earlier attempts, by call */
export function asksOf(asked: Asked, before: (callId: string) => Before | undefined): readonly Ask[] {
  const asks = asked.pending.map((action) => actionAsk(action, before(action.callId)));
  const { question } = asked;
  return question === null ? asks : [...asks, questionAsk(question, before(question.id))];
}

function actionAsk(action: PendingAction, before: Before | undefined): Ask {
  const { preview } = action;
  if (preview.type === 'question') return answerAsk(action, preview, before);
  const words = decisionWordsFor(action);
  const form: Form = {
    mode: 'form',
    message: actionText(action, before?.note),
    requestedSchema: { type: 'object', properties: fieldsFor(action, words) },
  };
  const key = keyOf(action.callId, [action.inputHash, action.reason, form], before);
  return { about: 'action', key, callId: action.callId, form, action, words };
}

function answerAsk(action: PendingAction, asked: AskedQuestion, before: Before | undefined): Ask {
  const form: Form = {
    mode: 'form',
    message: answerText(action, before?.note),
    requestedSchema: { type: 'object', ...answerFields(asked) },
  };
  const key = keyOf(action.callId, [action.inputHash, action.reason, form], before);
  return { about: 'asked', key, callId: action.callId, form, action, asked };
}

function questionAsk(question: Question, before: Before | undefined): Ask {
  const form: Form = {
    mode: 'form',
    message: shown([before?.note ?? '', question.text].filter((each) => each !== '').join('\n\n')),
    requestedSchema: {
      type: 'object',
      properties: { answer: { type: 'string', title: 'Answer' } },
      required: ['answer'],
    },
  };
  const key = keyOf(question.id, [form], before);
  return { about: 'question', key, callId: question.id, form, question };
}

const REASONS: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  'outcome-unknown': 'It was started before, and its outcome was lost. Approve runs it again, deny skips it.',
  'content-changed': 'What was shown before has changed since. This is how it is now.',
  question: '',
};

function actionText(action: PendingAction, note = ''): string {
  const { title, tool, source, sideEffect, reason, rule, preview, expiresAt } = action;
  return [
    note,
    shown(title),
    `Tool ${shown(tool)} (${shown(sourceText(source))}), side effect: ${sideEffect}${expiresAt === null ? '' : `, expires ${expiresAt}`}`,
    REASONS[reason],
    rule === undefined ? '' : `Asked for by ${shown(rule)}.`,
    shown(previewText(preview)),
    'Accept approves it, decline denies it.',
  ]
    .filter((each) => each !== '')
    .join('\n\n');
}

function answerText({ tool, source, preview, expiresAt }: PendingAction, note = ''): string {
  return [
    note,
    shown(previewText(preview)),
    `Asked by ${shown(tool)} (${shown(sourceText(source))})${expiresAt === null ? '' : `, expires ${expiresAt}`}`,
    'Accept sends what you fill in, decline tells the agent that you do not answer.',
  ]
    .filter((each) => each !== '')
    .join('\n\n');
}

function fieldsFor(action: PendingAction, words: readonly McpDecisionWord[]): Record<string, Field> {
  return {
    decision: { type: 'string', title: 'Decision', enum: [...words], default: 'approve' },
    ...(words.includes('edit') ? editField(action) : {}),
    reason: { type: 'string', title: 'Reason', description: 'Told to the agent. May be left empty.' },
  };
}

/** What a person edits: the text of a file, a command line, or else the input as it is. */
function editField({ preview, input }: PendingAction): Record<string, Field> {
  if (preview.type === 'diff')
    return {
      editedContent: {
        type: 'string',
        title: 'Write this instead',
        description:
          'The whole new text of the file; where text is only added to it, what is added. Leave empty to keep what is proposed.',
      },
    };
  if (preview.type === 'command' && typeof input['command'] === 'string')
    return {
      editedCommand: {
        type: 'string',
        title: 'Run this instead',
        description: 'The whole command line. Leave empty to keep what is proposed.',
      },
    };
  return {
    editedInput: {
      type: 'string',
      title: 'Run with this input instead',
      description: 'The whole new input of the tool, as a JSON object. Leave empty to keep what is proposed.',
    },
  };
}

function shown(text: string): string {
  const clean = text.replaceAll(CONTROL, '\u{FFFD}');
  return clean.length <= SHOWN
    ? clean
    : `${clean.slice(0, SHOWN)}\n… ${String(clean.length - SHOWN)} more characters are not shown here.`;
}

function keyOf(callId: string, about: readonly unknown[], before: Before | undefined): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([about, before?.times ?? 0]))
    .digest('hex');
  return `${callId}.${digest.slice(0, 16)}`;
}
