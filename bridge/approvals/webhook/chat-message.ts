/**
 * Writes a message for a person in a chat or on a phone. Pure. D5: a person can approve only what is shown in full, and
 * a chat cannot show an action in full. So the message offers no decision, and contains neither a preview nor a code.
 */
import { demandedApproverText, otherApprover } from '../../../shared/protocol/demanded-approver.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { ellipsize } from '../../../shared/text/capped-text.ts';
import type { TaskView } from '../../sessions/task-view.ts';
import type { DecidedFacts, NoticeSubject } from './notice.ts';

/** The maximum number of actions in one message. */
const MAX_ACTIONS = 10;
/** The maximum length of one line in characters. */
const MAX_LINE_CHARACTERS = 200;

export interface ChatMessage {
  title: string;
  /** The lines as plain text. They may contain text of the agent, so a receiver must not interpret markup in them. */
  lines: readonly string[];
  /** The URL of the approval page, without a credential. Undefined if the bridge knows no page of this agent. */
  page: string | undefined;
}

/** Writes the message about all actions and questions that wait in the session. */
export function askedMessage(
  about: NoticeSubject,
  { pending, question }: TaskView,
  page: string | undefined,
): ChatMessage {
  const asked = [...pending.map(actionLine), ...(question === null ? [] : [`Question: ${question.text}`])];
  return { title: 'An agent waits for your decision', lines: linesOf(about, asked), page };
}

function actionLine(action: PendingAction): string {
  const approver = otherApprover(action);
  const needs = approver === undefined ? '' : `${demandedApproverText(approver)}: `;
  return `${needs}${action.tool}: ${action.title}`;
}

/** Writes the message about actions and questions that no longer wait. */
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
  const more = actions.length - MAX_ACTIONS;
  return [
    `${agent}, ${sessionId}${title === '' ? '' : `: ${title}`}`,
    ...actions.slice(0, MAX_ACTIONS),
    ...(more > 0 ? [`… and ${String(more)} more`] : []),
  ].map((line) => ellipsize(visibleLine(line), MAX_LINE_CHARACTERS));
}
