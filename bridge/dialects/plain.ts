/**
 * The dialect of agents that know A2A and no extension: an `input-required` task asks its question in words, and the
 * person's answer goes back in words.
 */
import { TaskState, type TaskStatus } from '@a2a-js/sdk';
import { ProductError } from '../../shared/errors.ts';
import { type DialectReading, readEvent } from './a2a-event.ts';
import type { Dialect } from './dialect.ts';
import type { Question } from './observation.ts';
import { messageText, textPart } from './parts.ts';
import { positionIn } from './position.ts';

const WITHOUT_WORDS = 'The agent waits for input and did not say for what.';

const reading: DialectReading = {
  asked(status: TaskStatus, taskId: string) {
    if (status.state !== TaskState.TASK_STATE_INPUT_REQUIRED) return { pending: [], question: null };
    const text = messageText(status.message);
    const id = status.message?.messageId;
    const question: Question = {
      id: id === undefined || id === '' ? `question-${taskId}` : id,
      text: text === '' ? WITHOUT_WORDS : text,
    };
    return { pending: [], question };
  },
  isOwn: () => false,
  activity: () => null,
  overview: () => null,
  seq: positionIn,
};

export const plainDialect: Dialect = {
  name: 'plain',
  ignores: ['workspace', 'autoExecute', 'readOnly', 'model'],
  read: (event) => readEvent(event, reading),
  phraseTask: (text) => ({ parts: [textPart(text)], metadata: undefined }),
  phraseVerdicts(verdicts, asked) {
    if (asked.question === null) {
      throw new ProductError(
        'INVALID_DECISION',
        'The agent is not asking anything. Send it a message instead, or wait for it.',
      );
    }
    const [verdict, ...rest] = verdicts;
    if (verdict?.type !== 'answer' || rest.length > 0) {
      throw new ProductError(
        'INVALID_DECISION',
        `This agent asks in words and knows no approvals. Use the decision "answer" with callId "${asked.question.id}" and the words to send as "answer".`,
        { facts: { callId: asked.question.id } },
      );
    }
    if (verdict.callId !== asked.question.id) {
      throw new ProductError(
        'UNKNOWN_CALL',
        `The question that waits for an answer is "${asked.question.id}", not "${verdict.callId}".`,
        {
          facts: { callId: asked.question.id },
        },
      );
    }
    return { parts: [textPart(verdict.answer)], metadata: undefined };
  },
};
