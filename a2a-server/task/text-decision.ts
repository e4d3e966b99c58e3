import { quotedPreview, TEXT_PART_LIMITS } from '../../shared/protocol/preview-text.ts';
import type { ResolvedDecision } from './decide.ts';
import type { UserMessage } from './events.ts';
import { isFirstQuestion } from './pending.ts';
import { questionOfCall, waitingCalls, type Snapshot } from './snapshot.ts';

/**
 * Converts the plain text of a client without the approval extension to a decision. D1: only exact words are decisions.
 * Exactly one action must be pending. The word `approve` or `deny` alone decides only the task's first question. For a
 * later question, the word needs the question's code, because a plain word may mean an earlier question (D2: a decision
 * binds to what was shown). If the action is a question, any other text answers it. Pure.
 * @param taskId the task in the message. Without it, a plain word may mean another task of the session.
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
  const [, word, code] = DECISION_PATTERN.exec(part.text) ?? [];
  const isFirst = taskId !== undefined && isFirstQuestion(snapshot, call);
  if (questionOfCall(call) !== undefined) {
    const [, shown, words] = ANSWER_PATTERN.exec(part.text) ?? [];
    if (shown !== undefined && words !== undefined)
      return { ...bare, decision: 'answer', shown, answer: words };
    return word === undefined || isFirst ? { ...bare, decision: 'answer', answer: part.text } : undefined;
  }
  if (word !== 'approve' && word !== 'deny') return undefined;
  // D5: an action that is not shown in full cannot be approved. This client sees only a part of the action.
  if (word === 'approve' && quotedPreview(call, TEXT_PART_LIMITS).extent === 'cut') return undefined;
  return code === undefined && !isFirst ? undefined : { ...bare, decision: word, shown: code ?? null };
}

const DECISION_PATTERN = /^(approve|deny)(?: ([0-9a-f]+))?$/;
const ANSWER_PATTERN = /^answer ([0-9a-f]{8}) (.+)$/s;
