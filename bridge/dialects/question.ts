/** What an agent asks in words, and the answer to it, in words as well. */
import { TaskState, type TaskStatus } from '@a2a-js/sdk';
import { ProductError } from '../../shared/errors.ts';
import type { Phrase, Verdict } from './dialect.ts';
import type { Question } from './observation.ts';
import { messageText, textPart } from './parts.ts';

const WITHOUT_WORDS = 'The agent waits for input and did not say for what.';

/** @returns null for a status that waits for no input. */
export function questionOf(status: TaskStatus, taskId: string): Question | null {
  if (status.state !== TaskState.TASK_STATE_INPUT_REQUIRED) return null;
  const text = messageText(status.message);
  const id = status.message?.messageId;
  return {
    id: id === undefined || id === '' ? `question-${taskId}` : id,
    text: text === '' ? WITHOUT_WORDS : text,
  };
}

/** @throws ProductError INVALID_DECISION, UNKNOWN_CALL for verdicts that are not the one answer to this question. */
export function phraseAnswer(verdicts: readonly Verdict[], question: Question): Phrase {
  const [verdict, ...rest] = verdicts;
  if (verdict?.type !== 'answer' || rest.length > 0)
    throw new ProductError(
      'INVALID_DECISION',
      `The agent asks in words; there is nothing to approve. Use the decision "answer" with callId "${question.id}" and the words to send as "answer".`,
      { facts: { callId: question.id } },
    );
  if (verdict.callId !== question.id)
    throw new ProductError(
      'UNKNOWN_CALL',
      `The question that waits for an answer is "${question.id}", not "${verdict.callId}".`,
      { facts: { callId: question.id } },
    );
  return { parts: [textPart(verdict.answer)], metadata: undefined };
}
