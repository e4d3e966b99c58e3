/** Builds the body of a post about pending or decided actions. Pure. */
import { quotedPreview, sourceText } from '../../../shared/protocol/preview-text.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { withMarkedLines, visibleLine } from '../../../shared/text/visible-text.ts';
import type { McpDecisionWord } from '../decision-input.ts';
import { decisionLines } from '../ways-to-decide.ts';
import { offeredWords } from '../../mcp/reports/session-report.ts';
import { toMcpState } from '../../dialects/mcp-state.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import type { TaskView } from '../../sessions/task-view.ts';
import type { ApprovalRequest } from './list-approval-requests.ts';

/** The maximum number of characters of a preview or question in a post. */
const SHOWN = 10_000;
/** The maximum number of actions in one post. */
const TOLD = 50;

export interface NoticeSubject {
  sessionId: string;
  agent: string;
  /** The first words of the task; '' when this bridge does not know them. */
  title: string;
}

/** The body of a post, in the format of "Standard Webhooks". */
export interface Notice {
  type: 'approval.asked' | 'approval.decided' | 'approval.test';
  /** RFC 3339. */
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
  /** Characters of the preview that the post leaves out. */
  cut: number;
  /** A decision must carry this code. */
  shown: string;
  expiresAt: string | null;
  decisions: readonly McpDecisionWord[];
}

/** Builds the notice about all pending decisions of the session. @param now milliseconds since 1970 */
export function askedNotice(about: NoticeSubject, view: TaskView, now: number): Notice {
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
              text: withMarkedLines(question.text, { characters: SHOWN }).text,
            },
      howToDecide: howToDecide(posted, question),
    },
  };
}

export interface DecidedFacts {
  view: TaskView | undefined;
  state: SessionStateName;
  /** The decided requests. */
  over: readonly ApprovalRequest[];
  waiting: readonly ApprovalRequest[];
}

/** Builds the notice about decided requests. @param now milliseconds since 1970 */
export function decidedNotice(
  about: NoticeSubject,
  { view, state, over, waiting }: DecidedFacts,
  now: number,
): Notice {
  return {
    type: 'approval.decided',
    timestamp: new Date(now).toISOString(),
    data: {
      ...about,
      taskId: view?.taskId ?? null,
      state: toMcpState(state),
      decided: over.map(({ callId }) => ({ callId, ...decisionOn(callId, view) })),
      waiting: waiting.map(({ callId }) => callId),
    },
  };
}

/** Returns the decision and who made it. The fields are null if unknown, or if the task ended undecided. */
function decisionOn(callId: string, view: TaskView | undefined): Record<string, string | null> {
  const decided = view?.calls.find((call) => call.callId === callId)?.decided;
  return { decision: null, by: null, channel: null, ...decided };
}

/** Converts pending actions for the receiver. */
export function postedActions(pending: readonly PendingAction[]): readonly PostedAction[] {
  return pending.slice(0, TOLD).map(postedAction);
}

function postedAction(action: PendingAction): PostedAction {
  const { callId, tool, title, source, sideEffect, reason, preview, shown, expiresAt } = action;
  const quote = quotedPreview(preview, { characters: SHOWN });
  return {
    callId,
    tool: visibleLine(tool),
    title: visibleLine(title),
    source: visibleLine(sourceText(source)),
    sideEffect,
    reason,
    preview: quote.text,
    cut: quote.extent === 'cut' ? quote.left : 0,
    shown,
    expiresAt,
    decisions: offeredWords(action, quote),
  };
}

function howToDecide(
  pending: readonly PostedAction[],
  question: TaskView['question'],
): Record<string, unknown> {
  const reply =
    'Answer this post with 200 and {"decisions": [{"callId", "shown", "decision", …}]} as JSON, or with 204 and decide in one of the other ways.';
  return { reply, commandLines: decisionLines({ pending, question }, 'mcp-a2a-bridge') };
}
