/**
 * Limits the length of a new message, so that the shortened conversation with this message fits into the context
 * window. Pure.
 */
import {
  maxConversationTokens,
  SUMMARY_SHARE,
  estimateTokens,
  type ContextWindow,
} from './context-reduction.ts';
import { userMessageText } from './conversation.ts';
import type { UserMessage } from '../events.ts';
import { minFileTokens } from './select-files-for-model.ts';
import type { Snapshot } from '../snapshot.ts';
import { messageFiles } from '../task-files.ts';

/**
 * The length of a short message, in tokens. The server always accepts a short message, even if it no longer offers the
 * task's model. So a person can always answer.
 */
export const SHORT_MESSAGE_TOKENS = 200;
/** The share of the context window, without the system prompt and the tools, that one message may fill. */
const MESSAGE_SHARE = 1 / 2;

/**
 * Returns the tokens of a message. The estimate for its files is low, because a high estimate would refuse files that
 * the model accepts.
 */
export function messageTokens(message: UserMessage): number {
  const files = messageFiles(message).reduce((sum, file) => sum + minFileTokens(file), 0);
  return estimateTokens(userMessageText(message)) + files;
}

/**
 * The task that gets a message. `live` is absent for a new task. `previous` is the session's last ended task, if any.
 */
export interface LiveAndPreviousTask {
  live?: Snapshot | undefined;
  previous?: Snapshot | undefined;
}

/**
 * Returns the maximum length of a new message in tokens. The live task's first message and the unanswered messages are
 * never shortened. So their lengths reduce the maximum.
 */
export function maxMessageTokens({ live, previous }: LiveAndPreviousTask, room: ContextWindow): number {
  const { window = Infinity, beside } = room;
  const fixed = [
    ...(live === undefined ? [] : [...firstMessage(live), ...unansweredMessages(live)]),
    ...(previous === undefined || isShortened(previous) ? [] : unansweredMessages(previous)),
  ].reduce((sum, message) => sum + messageTokens(message), 0);
  const left = maxConversationTokens(room) * (1 - SUMMARY_SHARE) - fixed;
  return Math.max(0, Math.floor(Math.min((window - beside) * MESSAGE_SHARE, left)));
}

/**
 * Returns the first message as a list. The list is empty if this message is still unanswered, because
 * `unansweredMessages` then contains it.
 */
function firstMessage({ exchanges }: Snapshot): UserMessage[] {
  const [first] = exchanges;
  return first?.type === 'message' && exchanges.some(({ type }) => type === 'turn') ? [first.message] : [];
}

function unansweredMessages({ exchanges, queued }: Snapshot): UserMessage[] {
  const lastTurn = exchanges.findLastIndex(({ type }) => type === 'turn');
  const messages = exchanges
    .slice(lastTurn + 1)
    .flatMap((item) => (item.type === 'message' ? [item.message] : []));
  return [...messages, ...queued];
}

/** True if the task was too long for its model. The conversation shortens the messages of such a task. */
function isShortened({ status }: Snapshot): boolean {
  return status.state === 'failed' && status.tooLong === true;
}
