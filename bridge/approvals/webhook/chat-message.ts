/**
 * Writes a notice for a person in a chat or on a phone. Pure. It offers no decision and has no preview and no code, because
 * a chat cannot show an action in full (D5).
 */
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { ellipsize } from '../../../shared/text/capped-text.ts';
import type { TaskView } from '../../sessions/task-view.ts';
import type { DecidedFacts, NoticeSubject } from './notice.ts';

/** The maximum number of actions in one message. */
const ACTIONS = 10;
/** The maximum number of characters of one line. */
const LINE = 200;

export interface ChatMessage {
  title: string;
  /** Plain text that may come from an agent. A receiver must not interpret it as markup. */
  lines: readonly string[];
  /** The address of the approval page, without a credential; undefined if the agent has no known page. */
  page: string | undefined;
}

/** Writes the message about all pending decisions of the session. */
export function askedMessage(
  about: NoticeSubject,
  { pending, question }: TaskView,
  page: string | undefined,
): ChatMessage {
  const asked = [
    ...pending.map(({ tool, title }) => `${tool}: ${title}`),
    ...(question === null ? [] : [`Question: ${question.text}`]),
  ];
  return { title: 'An agent waits for your decision', lines: linesOf(about, asked), page };
}

/** Writes the message about requests that no longer wait. */
export function decidedMessage(
  about: NoticeSubject,
  { view, over, waiting }: DecidedFacts,
  page: string | undefined,
): ChatMessage {
  const decided = over.map(({ callId }) => {
    const call = view?.calls.find((each) => each.callId === callId);
    return `${call?.title ?? callId}: ${call?.decided?.decision ?? 'no longer waits'}`;
  });
  const still = waiting.length === 0 ? [] : [`Still waiting: ${String(waiting.length)}`];
  return { title: 'No longer waiting', lines: linesOf(about, [...decided, ...still]), page };
}

function linesOf({ sessionId, agent, title }: NoticeSubject, actions: readonly string[]): readonly string[] {
  const more = actions.length - ACTIONS;
  return [
    `${agent}, ${sessionId}${title === '' ? '' : `: ${title}`}`,
    ...actions.slice(0, ACTIONS),
    ...(more > 0 ? [`… and ${String(more)} more`] : []),
  ].map((line) => ellipsize(visibleLine(line), LINE));
}
