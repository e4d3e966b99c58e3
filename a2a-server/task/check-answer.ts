/** Validates a person's answer against its question. Pure and total. */
import { z } from 'zod';
import type { Answer, FormSchema, Question } from '../../shared/protocol/question.ts';
import type { DecisionScope, DecisionWord, PendingReason } from '../../shared/protocol/tool-approval.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import { parseJson } from '../../shared/text/parse-json.ts';
import { questionOfCall, type Call } from './snapshot.ts';
import { inputProblem } from '../../shared/text/input-problem.ts';

type ReadAnswer = { ok: true; answer: Answer } | { ok: false; message: string };

/**
 * Returns the problem if a decision word does not fit the pending action. D1: an invalid decision runs nothing. Only a
 * question accepts an answer, and a person cannot approve a question.
 */
export function decisionMismatch(
  { callId, title }: Call,
  reason: PendingReason,
  { decision, scope }: { decision: DecisionWord; scope: DecisionScope },
): string | undefined {
  if (reason !== 'question')
    return decision === 'answer'
      ? `Call ${callId} (${visibleLine(title)}) is not a question. Approve or deny it.`
      : undefined;
  if (decision !== 'answer' && decision !== 'deny')
    return `Call ${callId} (${visibleLine(title)}) is a question, and "${decision}" does not answer it. Send "answer" with the answer, or "deny" to decline.`;
  return scope === 'once'
    ? undefined
    : 'An answer applies only to its question. Use scope "once", or omit it.';
}

export function parseAnswerToCall(call: Call, given: Answer = ''): ReadAnswer {
  const question = questionOfCall(call);
  const read = question ? parseAnswer(question, given) : invalidAnswer('it is no question.');
  return read.ok
    ? read
    : invalidAnswer(`The answer to call ${call.callId} is not valid: ${read.message} The call still waits.`);
}

/**
 * Validates and converts an answer. Free text stays unchanged. A choice is a label, and several choices are a list of
 * labels. A form is an object with its fields. A label must match exactly, except for white space around it.
 */
export function parseAnswer(question: Question, given: Answer): ReadAnswer {
  if (question.schema !== undefined) return filledIn(question.schema, given);
  if (question.choices !== undefined) return parseChosenLabels(question, given);
  if (typeof given !== 'string') return invalidAnswer('it needs one text.');
  return given.trim() === '' ? invalidAnswer('it is empty.') : { ok: true, answer: given };
}

function parseChosenLabels(
  { choices = [], multiple = false, freeText = false }: Question,
  given: Answer,
): ReadAnswer {
  const labels = choices.map(({ label }) => label);
  const known = (text: string): boolean => labels.includes(text);
  const said = saidLabels(given, multiple, known);
  if (said === undefined)
    return invalidAnswer(`it needs one of its choices (${quotedList(labels)}), not a form.`);
  const strangers = said.filter((text) => !known(text));
  if (strangers.length > 0 && freeText && typeof given === 'string' && given.trim() !== '')
    return { ok: true, answer: multiple ? [given] : given };
  if (strangers.length > 0 && !freeText)
    return invalidAnswer(
      `${quotedList(strangers)} is not one of its choices. The choices are ${quotedList(labels)}.`,
    );
  const taken = [...new Set(said)];
  const [first, another] = taken;
  if (first === undefined || first === '')
    return invalidAnswer(`it names no choice. The choices are ${quotedList(labels)}.`);
  if (multiple) return { ok: true, answer: taken };
  return another === undefined
    ? { ok: true, answer: first }
    : invalidAnswer('it takes only one of its choices.');
}

/** Returns the labels in an answer. Returns undefined if the answer is a form. */
function saidLabels(
  given: Answer,
  multiple: boolean,
  known: (text: string) => boolean,
): string[] | undefined {
  if (Array.isArray(given)) return given.map((text) => text.trim());
  if (typeof given !== 'string') return undefined;
  const whole = given.trim();
  return multiple && !known(whole) ? whole.split(/[,\n]/).map((text) => text.trim()) : [whole];
}

function filledIn(schema: FormSchema, given: Answer): ReadAnswer {
  const values = typeof given === 'string' ? valuesIn(schema, given) : given;
  if (values === undefined || Array.isArray(values))
    return invalidAnswer(
      `it needs a form. Answer with an object with the fields ${quotedList(Object.keys(schema.properties))}.`,
    );
  const parsed = checkOf(schema).safeParse(values, { error: inputProblem });
  return parsed.success
    ? { ok: true, answer: values }
    : invalidAnswer(
        `${parsed.error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; ')}.`,
      );
}

/** Parses the text as the JSON of a form, or as the value of the only field. */
function valuesIn({ properties }: FormSchema, text: string): Record<string, unknown> | undefined {
  const json = parseJson(text);
  const object = z.record(z.string(), z.unknown()).safeParse(json);
  if (object.success) return object.data;
  const [only, another] = Object.entries(properties);
  if (only === undefined || another !== undefined) return undefined;
  const [name, { type }] = only;
  return { [name]: type === 'string' ? text.trim() : json };
}

/**
 * Returns the schema of a filled form. It accepts only the form's own fields. A default is only the initial value of
 * a field, so it does not replace a missing answer.
 */
function checkOf({ properties, ...schema }: FormSchema): z.ZodType {
  const fields = Object.entries(properties).map(
    ([name, { default: _begins, ...field }]) => [name, field] as const,
  );
  return z.fromJSONSchema({ ...schema, properties: Object.fromEntries(fields), additionalProperties: false });
}

function quotedList(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(', ');
}

function invalidAnswer(message: string): ReadAnswer {
  return { ok: false, message };
}
