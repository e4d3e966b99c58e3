/** Writes the messages about actions that wait, and about actions that no longer wait. Pure. */
import { type ChatMessage, chatLines } from '../../../shared/chat/chat-message.ts';
import { approvalNeededText, approverInsteadOfReader } from '../../../shared/protocol/demanded-approver.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import type { ApprovalDecidedFacts, WebhookNoticeSubject } from './notice.ts';

/** Writes the message about all actions and questions that wait in the session. */
export function approvalRequestMessage(
  about: WebhookNoticeSubject,
  { pending, question }: TaskView,
  page: string | undefined,
): ChatMessage {
  const asked = [...pending.map(actionLine), ...(question === null ? [] : [`Question: ${question.text}`])];
  const others =
    question === null && pending.every((action) => approverInsteadOfReader(action) !== undefined);
  const whose = others ? 'the decision of somebody else' : 'your decision';
  return { title: `An agent waits for ${whose}`, lines: linesOf(about, asked), page };
}

function actionLine(action: PendingAction): string {
  const approver = approverInsteadOfReader(action);
  const needs = approver === undefined ? '' : `${approvalNeededText(approver)}: `;
  return `${needs}${action.tool}: ${action.title}`;
}

/** Writes the message about actions and questions that no longer wait. */
export function approvalDecidedMessage(
  about: WebhookNoticeSubject,
  { view, over, waiting }: ApprovalDecidedFacts,
  page: string | undefined,
): ChatMessage {
  const decided = over.map(({ callId }) => {
    const call = view?.calls.find((each) => each.callId === callId);
    return `${call?.title ?? callId}: ${call?.decided?.decision ?? 'no longer waits'}`;
  });
  const still = waiting.length === 0 ? [] : [`Still waiting: ${String(waiting.length)}`];
  return { title: 'No longer waiting', lines: linesOf(about, [...decided, ...still]), page };
}

function linesOf(
  { sessionId, agent, title }: WebhookNoticeSubject,
  actions: readonly string[],
): readonly string[] {
  return chatLines(`${agent}, ${sessionId}${title === '' ? '' : `: ${title}`}`, actions);
}
