/**
 * Builds the form that asks a person about a pending action or a question. Pure.
 *
 * Accept approves an action, and Decline denies it. By default the form has no fields, so the person decides with one
 * key. D5: a person can approve only what is shown in full. So an action that does not fit into a form is shown on the
 * server's page. A form for a question has a field for the answer, with the choices of the question. If the person
 * declines a question that is a pending action, the agent learns that no answer follows.
 */
import { createHash } from 'node:crypto';
import type { Question as AskedQuestion } from '../../shared/protocol/question.ts';
import { approverInsteadOfReader, type DemandedApprover } from '../../shared/protocol/demanded-approver.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { PendingInput } from '../dialects/dialect.ts';
import type { PlainTextQuestion } from '../dialects/observation.ts';
import { decisionWordsFor } from './decision-input.ts';
import { toolSourceText } from '../../shared/protocol/preview-text.ts';
import { formFieldsOfQuestion, canShowFieldsInFull } from './answer-fields.ts';
import type { McpDecisionWord } from './decision-input.ts';
import { decisionFormProperties } from './decision-fields.ts';
import type { Form, FormFields } from './form-field.ts';
import {
  FORM_ROW_COLUMNS,
  approvalFormRows,
  untrustedTextRows,
  MAX_FORM_ROWS,
  bridgeTextRows,
  clippedFormRow,
  sentenceRows,
  actionSummaryRows,
  followingText,
  withFollowing,
  withTaskAndAgent,
} from './form-rows.ts';
import type { FormFieldsSetting } from '../settings/approval-mode.ts';

/** A pending action or a question, with a form if it fits into one. */
export type FormCandidate = {
  /** The key of the form in a list of form requests (the tasks extension, "Task Update Requests"). */
  key: string;
  callId: string;
} & (
  | { about: 'action'; action: PendingAction; words: readonly McpDecisionWord[]; form: Form }
  /** An action or question that does not fit into a form. The page shows all of it, and the person decides there. */
  | { about: 'page'; action: PendingAction; words: readonly McpDecisionWord[]; message: string }
  /** An action that only another person may approve. There is no form for it, because this person can only deny it. */
  | { about: 'other-approver'; action: PendingAction; approver: DemandedApprover }
  /** A question that the agent sends as a pending action. The person may decline it. The agent validates the answer. */
  | { about: 'asked'; action: PendingAction; asked: AskedQuestion; form: Form }
  /** A plain-text question, which is not a pending action. */
  | { about: 'question'; question: PlainTextQuestion; form: Form }
  /** A plain-text question that does not fit into a form. The agent has no page that could show it. */
  | { about: 'unshown'; question: PlainTextQuestion }
);

/** The earlier forms for a call. None of them got a valid answer. */
export interface EarlierForms {
  count: number;
  /** The problem of the last answer. '' if there was no answer. */
  note: string;
}

export interface FormLayout {
  fields: FormFieldsSetting;
  /** The maximum width of a row. */
  columns: number;
  /**
   * The title of the task, if the bridge has another open task too. Open tasks of earlier bridge processes count too.
   * Absent if this is the only open task, because the person knows it.
   */
  task?: string | undefined;
  /** The name of the agent, if the bridge has several. Absent otherwise. */
  agent?: string | undefined;
}

const DEFAULT_LAYOUT: FormLayout = { fields: 'none', columns: FORM_ROW_COLUMNS };

/**
 * Builds one form for each pending action and question, in the agent's order.
 * @param before returns the earlier forms for a call
 */
export function buildFormCandidates(
  asked: PendingInput,
  before: (callId: string) => EarlierForms | undefined,
  layout: FormLayout = DEFAULT_LAYOUT,
): readonly FormCandidate[] {
  const { pending, question } = asked;
  const asks = pending.map((action, at) => {
    const later = pending.slice(at + 1).filter((each) => approverInsteadOfReader(each) === undefined);
    const following = later.length + (question === null ? 0 : 1);
    return actionAsk({ action, following }, before(action.callId), layout);
  });
  return question === null ? asks : [...asks, questionAsk(question, before(question.id), layout)];
}

/** A pending action, and how many actions and questions wait after it. */
interface PlacedAction {
  action: PendingAction;
  following: number;
}

// The key of a form depends neither on the number of later actions, nor on other tasks, nor on the number of agents. So
// an answer stays valid if another channel decides a later action meanwhile.

function actionAsk(
  placed: PlacedAction,
  before: EarlierForms | undefined,
  layout: FormLayout,
): FormCandidate {
  const { fields, columns } = layout;
  const { action } = placed;
  const { callId, preview } = action;
  const approver = approverInsteadOfReader(action);
  if (approver !== undefined)
    return { about: 'other-approver', key: keyOf(action, approver, before), callId, action, approver };
  if (preview.type === 'question') return answerAsk(placed, { asked: preview, before, layout });
  const words = decisionWordsFor(action);
  const rows = words.includes('approve') ? approvalFormRows(action, columns) : undefined;
  const note = noteRows(before, columns);
  if (rows === undefined) {
    const why = action.presence === true ? PASSKEY_ON_THE_PAGE : ON_THE_PAGE;
    return pageAsk(placed, { words, why, before, layout });
  }
  const properties = fields === 'more' ? decisionFormProperties(action, words) : {};
  const key = keyOf(action, formOf(messageOf(note, rows), { properties }), before);
  const limits = { columns, maxRows: MAX_FORM_ROWS - note.length };
  const counted = withFollowing({ kind: 'whole', rows }, placed, limits);
  const form = formOf(messageOf(note, withTaskAndAgent(counted, layout, limits)), { properties });
  return { about: 'action', key, callId, form, action, words };
}

function pageAsk(
  placed: PlacedAction,
  {
    words,
    why,
    before,
    layout,
  }: { words: readonly McpDecisionWord[]; why: string; before: EarlierForms | undefined; layout: FormLayout },
): FormCandidate {
  const { action } = placed;
  const { columns } = layout;
  const note = noteRows(before, columns);
  const reason = sentenceRows(why, columns);
  const rows = actionSummaryRows(action, columns);
  const key = keyOf(action, ['page', messageOf(note, [...rows, ...reason])], before);
  const limits = { columns, maxRows: MAX_FORM_ROWS - note.length - reason.length };
  const counted = withFollowing({ kind: 'summary', rows }, placed, limits);
  const message = messageOf(note, [...withTaskAndAgent(counted, layout, limits), ...reason]);
  return { about: 'page', key, callId: action.callId, action, words, message };
}

// These sentences fit into one row of a window of 60 columns.
const ON_THE_PAGE = 'Too long here. Decide on the page. Decline denies it.';

const PASSKEY_ON_THE_PAGE = 'Needs your passkey. Open the page. Decline denies it.';

const ANSWER_ON_THE_PAGE = 'Too long here. Answer on the page. Decline denies it.';

function answerAsk(
  placed: PlacedAction,
  { asked, before, layout }: { asked: AskedQuestion; before: EarlierForms | undefined; layout: FormLayout },
): FormCandidate {
  const { columns, task, agent } = layout;
  const { action, following } = placed;
  const { callId } = action;
  const by = askerRows(askerOf(action), 0, columns);
  const text = untrustedTextRows(asked.text, columns);
  const fields = formFieldsOfQuestion(asked);
  if (
    text === undefined ||
    by.length + text.length > MAX_FORM_ROWS ||
    !canShowFieldsInFull(fields, columns)
  ) {
    const words = decisionWordsFor(action);
    return pageAsk(placed, { words, why: ANSWER_ON_THE_PAGE, before, layout });
  }
  const note = noteRows(before, columns);
  const key = keyOf(action, formOf(messageOf(note, [...by, ...text]), fields), before);
  const named = [following, 0]
    .map((more) => askerRows(askerOf(action, clippedName(agent, more, columns)), more, columns))
    .find((rows) => rows.length === by.length);
  const all = [...(named ?? by), ...text];
  const limits = { columns, maxRows: MAX_FORM_ROWS - note.length };
  const form = formOf(messageOf(note, withTaskAndAgent(all, { task }, limits)), fields);
  return { about: 'asked', key, callId, form, action, asked };
}

function askerOf({ tool, source }: PendingAction, agent?: string): string {
  return source.type === 'built-in'
    ? agentText(agent)
    : `${visibleLine(tool)} (${visibleLine(toolSourceText(source))})`;
}

/**
 * Returns the words for the agent, such as `Agent "team"`. Without a name: `The agent`.
 * @param name the result of `clippedName`
 */
function agentText(name?: string): string {
  return name === undefined ? 'The agent' : `Agent "${name}"`;
}

/** The minimum width of an agent's name that is cut, in columns. */
const MIN_NAME_COLUMNS = 8;

/** Returns the escaped name of the agent. Cuts a long name, so that `Agent "…" asks:` fits into one row. */
function clippedName(agent: string | undefined, following: number, columns: number): string | undefined {
  if (agent === undefined) return undefined;
  const room = columns - askerText(agentText(''), following).length;
  return clippedFormRow(visibleLine(agent), Math.max(MIN_NAME_COLUMNS, room));
}

/** Returns the rows that say who asks the question. */
function askerRows(asker: string, following: number, columns: number): readonly string[] {
  return bridgeTextRows(askerText(asker, following), columns);
}

function askerText(asker: string, following: number): string {
  return `${asker} asks${following === 0 ? '' : ` ${followingText(following)}`}:`;
}

function questionAsk(
  question: PlainTextQuestion,
  before: EarlierForms | undefined,
  { columns, task, agent }: FormLayout,
): FormCandidate {
  const { id: callId, shown, text } = question;
  const rows = untrustedTextRows(text, columns);
  if (rows === undefined)
    return { about: 'unshown', key: keyOf({ callId, shown }, 'unshown', before), callId, question };
  const note = noteRows(before, columns);
  const fields: FormFields = {
    properties: { answer: { type: 'string', title: 'Answer' } },
    required: ['answer'],
  };
  const key = keyOf({ callId, shown }, formOf(messageOf(note, rows), fields), before);
  const limits = { columns, maxRows: MAX_FORM_ROWS - note.length };
  const by = askerRows(agentText(clippedName(agent, 0, columns)), 0, columns);
  const all = by.length + rows.length <= limits.maxRows ? [...by, ...rows] : rows;
  const form = formOf(messageOf(note, withTaskAndAgent(all, { task }, limits)), fields);
  return { about: 'question', key, callId, form, question };
}

function formOf(message: string, fields: Omit<Form['requestedSchema'], 'type'>): Form {
  return { mode: 'form', message, requestedSchema: { type: 'object', ...fields } };
}

/** Returns the rows of the note about the last answer. The note is escaped: it may contain text of the agent. */
function noteRows(before: EarlierForms | undefined, columns: number): readonly string[] {
  return before === undefined || before.note === '' ? [] : sentenceRows(visibleLine(before.note), columns);
}

/** Joins the rows of a form. If there are too many, the note about the last answer is left out. */
function messageOf(note: readonly string[], rows: readonly string[]): string {
  return (rows.length + note.length <= MAX_FORM_ROWS ? [...note, ...rows] : rows).join('\n');
}

function keyOf(
  { callId, shown }: Pick<PendingAction, 'callId' | 'shown'>,
  form: unknown,
  before: EarlierForms | undefined,
): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([shown, form, before?.count ?? 0]))
    .digest('hex');
  return `${callId}.${digest.slice(0, 16)}`;
}
