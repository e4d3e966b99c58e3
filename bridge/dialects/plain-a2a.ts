/** The dialect of agents without extensions. The agent asks in text, and the person answers in text. */
import { ProductError } from '../../shared/runtime/errors.ts';
import { type DialectFieldReaders, readA2aEvent } from './a2a-event.ts';
import { type Dialect, NO_HAZARDS, refuseCommand } from './dialect.ts';
import { textPart } from './parts.ts';
import { eventCursorOf } from './event-cursor.ts';
import { phraseAnswer, questionOf } from './question-in-status.ts';

export const PLAIN_FIELD_READERS: DialectFieldReaders = {
  asked: (status, taskId) => ({ pending: [], question: questionOf(status, taskId), actionParts: [] }),
  activity: () => null,
  overview: () => null,
  seq: eventCursorOf,
};

export const plainA2aDialect: Dialect = {
  name: 'plain',
  hazards: NO_HAZARDS,
  keepsTask: false,
  clientNamesSession: false,
  ignores: ['workspace', 'autoExecute', 'readOnly', 'mode', 'model'],
  read: (event) => readA2aEvent(event, { ...PLAIN_FIELD_READERS, answersInStatus: true }),
  phraseTask: (text) => ({ parts: [textPart(text)], metadata: undefined }),
  phraseCommand: refuseCommand,
  phraseDecisions(decisions, asked) {
    if (asked.question === null) {
      throw new ProductError(
        'INVALID_DECISION',
        'The agent is not asking anything. Send it a message instead, or wait for it.',
      );
    }
    return phraseAnswer(decisions, asked.question);
  },
};
