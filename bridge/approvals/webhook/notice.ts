/** Builds the JSON body of a post about pending or decided actions. Pure. */
import type { DemandedApprover } from '../../../shared/protocol/demanded-approver.ts';
import { quotedAction, toolSourceText } from '../../../shared/protocol/preview-text.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { quotedText, visibleLine } from '../../../shared/text/visible-text.ts';
import type { McpDecisionWord } from '../decision-input.ts';
import { decisionCommandLines } from '../ways-to-decide.ts';
import { offeredDecisionWords } from '../../mcp/reports/session-report.ts';
import { toClientSessionState } from '../../dialects/session-state-for-client.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import type { ApprovalRequestId } from './list-approval-requests.ts';

/** The maximum length of a preview or question in a post, in characters. */
const MAX_PREVIEW_CHARACTERS = 10_000;
/** The maximum number of actions in one post. */
const MAX_ACTIONS = 50;

export interface WebhookNoticeSubject {
  sessionId: string;
  agent: string;
  /** The first words of the task. '' if this bridge does not know them. */
  title: string;
}

/** The JSON body of a post, in the format of "Standard Webhooks". */
export interface WebhookNotice {
  type: 'approval.asked' | 'approval.decided' | 'approval.test';
  /** The time of the notice in RFC 3339. */
  timestamp: string;
  data: Record<string, unknown>;
}

interface PostedAction {
  callId: string;
  tool: string;
  title: string;
  source: string;
  sideEffect: string;
  reason: string;
  preview: string;
  /** The number of characters of the preview that are left out of the post. */
  cut: number;
  /** The code of this action. A decision must contain it. */
  shown: string;
  expiresAt: string | null;
  /** Says who may approve the action, if the policy demands a special approver. */
  approver?: DemandedApprover;
  /** The decisions that the bridge's user may make. */
  decisions: readonly McpDecisionWord[];
}

/**
 * Builds the body of a post about everything that waits in the session.
 * @param now the time in milliseconds since 1970
 */
export function approvalRequestNotice(
  about: WebhookNoticeSubject,
  view: TaskView,
  now: number,
): WebhookNotice {
  const { pending, question } = view;
  const posted = postedActions(pending);
  return {
    type: 'approval.asked',
    timestamp: new Date(now).toISOString(),
    data: {
      ...about,
      taskId: view.taskId,
      pending: posted,
      more: pending.length - posted.length,
      question:
        question === null
          ? null
          : {
              callId: question.id,
              shown: question.shown,
              text: quotedText(question.text, { characters: MAX_PREVIEW_CHARACTERS }).text,
            },
      howToDecide: howToDecide(posted, question),
    },
  };
}

export interface ApprovalDecidedFacts {
  view: TaskView | undefined;
  state: SessionStateName;
  /** The requests that no longer wait, because they were decided or the task has ended. */
  over: readonly ApprovalRequestId[];
  waiting: readonly ApprovalRequestId[];
}

/** Builds the body of a post about decided requests. @param now the time in milliseconds since 1970 */
export function approvalDecidedNotice(
  about: WebhookNoticeSubject,
  { view, state, over, waiting }: ApprovalDecidedFacts,
  now: number,
): WebhookNotice {
  return {
    type: 'approval.decided',
    timestamp: new Date(now).toISOString(),
    data: {
      ...about,
      taskId: view?.taskId ?? null,
      state: toClientSessionState(state),
      decided: over.map(({ callId }) => ({ callId, ...decisionOn(callId, view) })),
      waiting: waiting.map(({ callId }) => callId),
    },
  };
}

/**
 * Returns the decision on a call and who made it. The fields are null if unknown, or if the task ended without a
 * decision.
 */
function decisionOn(callId: string, view: TaskView | undefined): Record<string, string | null> {
  const decided = view?.calls.find((call) => call.callId === callId)?.decided;
  return { decision: null, by: null, channel: null, ...decided };
}

/** Converts pending actions for the body of a post. */
export function postedActions(pending: readonly PendingAction[]): readonly PostedAction[] {
  return pending.slice(0, MAX_ACTIONS).map(postedAction);
}

function postedAction(action: PendingAction): PostedAction {
  const { callId, tool, title, source, sideEffect, reason, shown, expiresAt, approver } = action;
  const quote = quotedAction(action, { characters: MAX_PREVIEW_CHARACTERS });
  return {
    callId,
    tool: visibleLine(tool),
    title: visibleLine(title),
    source: visibleLine(toolSourceText(source)),
    sideEffect,
    reason,
    preview: quote.text,
    cut: quote.extent === 'cut' ? quote.left : 0,
    shown,
    expiresAt,
    ...(approver && { approver }),
    decisions: offeredDecisionWords(action, quote),
  };
}

function howToDecide(
  pending: readonly PostedAction[],
  question: TaskView['question'],
): Record<string, unknown> {
  const reply =
    'Answer this post with 200 and {"decisions": [{"callId", "shown", "decision", …}]} as JSON, or with 204 and decide in one of the other ways.';
  return { reply, commandLines: decisionCommandLines({ pending, question }, 'mcp-a2a-bridge') };
}
