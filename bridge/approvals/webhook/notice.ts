/** What is posted: that something waits, and later that it does not wait any more. Pure. */
import { quotedPreview, sourceText } from '../../../shared/protocol/preview-text.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { quoted, visibleLine } from '../../../shared/text/visible-text.ts';
import type { McpDecisionWord } from '../decision-input.ts';
import { decisionLines } from '../ways-to-decide.ts';
import { offeredWords } from '../../mcp/reports/session-report.ts';
import { toMcpState } from '../../dialects/mcp-state.ts';
import type { TaskView } from '../../sessions/task-view.ts';
import type { ApprovalRequest } from './approval-request.ts';

/** Characters of a preview, and of an agent's question, that are posted. */
const SHOWN = 10_000;
/** Actions told one by one. */
const TOLD = 50;

export interface About {
  sessionId: string;
  agent: string;
  /** The first words of the task; '' where this bridge does not know them. */
  title: string;
}

/** "Standard Webhooks": a type, when, and what is particular to the type. */
export interface Notice {
  type: 'approval.asked' | 'approval.decided';
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
  /** Characters of the preview that were left out. */
  cut: number;
  /** A decision has to carry it. */
  shown: string;
  expiresAt: string | null;
  decisions: readonly McpDecisionWord[];
}

/** Everything that waits in the session, as a person has to see it before they decide. @param now milliseconds since 1970 */
export function askedNotice(about: About, view: TaskView, now: number): Notice {
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
              text: quoted(question.text, { characters: SHOWN }).text,
            },
      howToDecide: howToDecide(posted, question),
    },
  };
}

/** These wait no more. @param waiting what still does */
export function decidedNotice(
  about: About,
  {
    view,
    over,
    waiting,
  }: { view: TaskView | undefined; over: readonly ApprovalRequest[]; waiting: readonly ApprovalRequest[] },
  now: number,
): Notice {
  return {
    type: 'approval.decided',
    timestamp: new Date(now).toISOString(),
    data: {
      ...about,
      taskId: view?.taskId ?? null,
      state: view === undefined ? 'unknown' : toMcpState(view.state),
      decided: over.map(({ callId }) => ({ callId, ...decisionOn(callId, view) })),
      waiting: waiting.map(({ callId }) => callId),
    },
  };
}

/** What was made of it and by whom; null where the agent does not say, or it was withdrawn with its task. */
function decisionOn(callId: string, view: TaskView | undefined): Record<string, string | null> {
  const decided = view?.calls.find((call) => call.callId === callId)?.decided;
  return { decision: null, by: null, channel: null, ...decided };
}

/** What waits as the receiver sees it. */
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
