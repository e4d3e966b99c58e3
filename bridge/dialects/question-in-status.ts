/**
 * Reads an agent's questions and sign-in requests in plain text. Builds the answer as text, or as data if the agent
 * sent a form.
 */
import { TaskState, type TaskStatus } from '@a2a-js/sdk';
import { ProductError } from '../../shared/runtime/errors.ts';
import { answerText } from '../../shared/protocol/preview-text.ts';
import { adkAnswerHint, adkFunctionCallIn, adkFunctionResponse } from './adk-function-call.ts';
import type { MessageContent, PersonDecision } from './dialect.ts';
import { dataOfPart, dataPart, messageText, textPart } from './parts.ts';
import {
  answerAsJsonObject,
  missingRequiredFields,
  type PlainTextQuestion,
  questionWithCode,
  questionSchemaIn,
} from './plain-text-question.ts';
import { urlsOutsideTextParts } from './urls-outside-text-parts.ts';

const QUESTION_WITHOUT_TEXT = 'The agent waits for input and did not say for what.';
const SIGN_IN_WITHOUT_TEXT = 'The agent waits for a sign-in and did not say where.';

/** Reads the question of a status. Returns null if the status waits for neither an input nor a sign-in. */
export function questionOf({ state, message }: TaskStatus, taskId: string): PlainTextQuestion | null {
  const signIn = state === TaskState.TASK_STATE_AUTH_REQUIRED;
  if (!signIn && state !== TaskState.TASK_STATE_INPUT_REQUIRED) return null;
  const parts = message?.parts ?? [];
  const said = messageText(message);
  const adkCall = adkFunctionCallIn(parts);
  const hint = adkCall === null ? '' : adkAnswerHint(adkCall);
  const asked = said === '' ? (signIn ? SIGN_IN_WITHOUT_TEXT : QUESTION_WITHOUT_TEXT) : said;
  const text = hint === '' ? asked : `${asked}\n${hint}`;
  const links = signIn ? urlsOutsideTextParts(parts) : [];
  const data = parts.map(dataOfPart).filter((each) => each !== undefined);
  const id = message?.messageId;
  return questionWithCode({
    id: id === undefined || id === '' ? `question-${taskId}` : id,
    text: links.length === 0 ? text : `${text}\nTo open in a browser: ${links.join(' ')}`,
    ...(data.length === 0 || signIn
      ? {}
      : { form: data.map(questionSchemaIn).find((each) => each !== null) ?? null }),
    ...(adkCall === null ? {} : { adkCall }),
  });
}

/**
 * Builds the message that answers the question.
 * @throws ProductError INVALID_DECISION, UNKNOWN_CALL or INPUT_CHANGED, unless `decisions` contains exactly one answer
 * to this question
 */
export function phraseAnswer(
  decisions: readonly PersonDecision[],
  question: PlainTextQuestion,
): MessageContent {
  const [decision, ...rest] = decisions;
  const facts = { callId: question.id };
  if (decision?.type !== 'answer' || rest.length > 0)
    throw new ProductError(
      'INVALID_DECISION',
      `The agent asks in words; there is nothing to approve. Use the decision "answer" with callId "${question.id}", the code of the question as "shown" and the words to send as "answer".`,
      { facts },
    );
  if (decision.callId !== question.id)
    throw new ProductError(
      'UNKNOWN_CALL',
      `The question that waits for an answer is "${question.id}", not "${decision.callId}".`,
      { facts },
    );
  // D2: a decision is valid only for what the person saw. The agent itself cannot detect an answer to an earlier
  // question.
  if (decision.shown !== question.shown)
    throw new ProductError(
      'INPUT_CHANGED',
      'The agent asks something else now; nothing was sent. Show the person the question as it is, and answer with its code.',
      { facts },
    );
  const words = answerText(decision.answer);
  if (question.adkCall !== undefined)
    return { parts: [adkFunctionResponse(question.adkCall, words)], metadata: undefined };
  const data = question.form === undefined ? undefined : answerAsJsonObject(words);
  // Text is always possible, because an agent that sends a form can also read text.
  if (data === undefined) return { parts: [textPart(words)], metadata: undefined };
  const missing = missingRequiredFields(data, question.form ?? {});
  if (missing.length > 0)
    throw new ProductError(
      'INVALID_DECISION',
      `The form asks for ${missing.map((name) => `"${name}"`).join(', ')} too; nothing was sent. Answer with all that it requires.`,
      { facts },
    );
  return { parts: [dataPart(data)], metadata: undefined };
}
