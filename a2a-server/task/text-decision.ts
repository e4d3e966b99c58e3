/** Reads a decision from the text of a client without the approval extension. Only exact words are decisions (D1). Pure. */
import { quotedPreview, TEXT_PART_LIMITS } from '../../shared/protocol/preview-text.ts';
import type { ResolvedDecision } from './decide.ts';
import type { UserMessage } from './events.ts';
import { isFirstQuestion } from './pending.ts';
import { questionOf, waitingCalls, type Snapshot } from './snapshot.ts';

/**
 * Reads the plain text of a client without the extension as a decision. Exactly one action must be pending. A plain word
 * decides only the task's first question. For each later question, the word needs the code after it, because a plain
 * word may belong to an earlier question (D2). Any other text is an answer to a question.
 * @param taskId the task that the message names. Without it, a plain word may belong to another task of the session.
 */
export function decisionInText(
  snapshot: Snapshot,
  message: UserMessage,
  taskId: string | undefined,
): ResolvedDecision | undefined {
  const [part, more] = message.parts;
  const [call, another] = waitingCalls(snapshot);
  if (part?.type !== 'text' || more !== undefined || call === undefined || another !== undefined)
    return undefined;
  const bare = { callId: call.callId, scope: 'once', reason: null, shown: null, edited: null } as const;
  const [, word, code] = WORDS.exec(part.text) ?? [];
  const isFirst = taskId !== undefined && isFirstQuestion(snapshot, call);
  if (questionOf(call) !== undefined) {
    const [, shown, words] = ANSWER.exec(part.text) ?? [];
    if (shown !== undefined && words !== undefined)
      return { ...bare, decision: 'answer', shown, answer: words };
    return word === undefined || isFirst ? { ...bare, decision: 'answer', answer: part.text } : undefined;
  }
  if (word !== 'approve' && word !== 'deny') return undefined;
  // D5: the text part shows this client only a part of the action.
  if (word === 'approve' && quotedPreview(call.preview, TEXT_PART_LIMITS).extent === 'cut') return undefined;
  return code === undefined && !isFirst ? undefined : { ...bare, decision: word, shown: code ?? null };
}

const WORDS = /^(approve|deny)(?: ([0-9a-f]+))?$/;
const ANSWER = /^answer ([0-9a-f]{8}) (.+)$/s;
