/** The MCP tool `approve_or_deny_pending_action`: sends a person's decision on a pending action. */
import { z } from 'zod';
import { wrongTitleError } from '../../approvals/check-decision-title.ts';
import {
  actionTitleSchema,
  decisionInputSchema,
  decisionsOfToolCall,
  singleDecisionFields,
  toPersonDecision,
} from '../../approvals/decision-input.ts';
import { refuseIfHumanOnly } from '../reports/human-only-guidance.ts';
import {
  refuseIncompletePreviews,
  findIncompletePreviewError,
} from '../../approvals/refuse-incomplete-previews.ts';
import { noteLateFailure, unconfirmedDecisionNote } from '../../approvals/sent-in-time.ts';
import { sendDecisions } from '../../approvals/send-decisions.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { pendingReports } from '../reports/session-report.ts';
import { type SessionResult, sessionResultSchema } from '../reports/session-result.ts';
import type { Session } from '../../sessions/session/session.ts';
import { continueAfterFormRound, awaitSession } from './await-session.ts';
import * as fields from '../tool/input-fields.ts';
import { sessionReply } from '../tool/session-reply.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';
import type { ToolCallContext } from '../tool/tool.ts';
import type { ToolReply } from '../tool/tool-result.ts';

const { decision: listedWord, ...listed } = decisionInputSchema.shape;
const listedDecision = z.strictObject({ decision: listedWord, title: actionTitleSchema, ...listed });
const { decision: singleWord, title: singleTitle, ...single } = singleDecisionFields;

export const decideTool = defineBridgeTool({
  name: 'approve_or_deny_pending_action',
  title: 'Decide a pending action',
  description: `Sends a person's decision on an action that an agent wants to take. Send only what the person has decided: first show them the preview.

decision: approve (run it), deny (do not, go on without), edit (run it with editedContent or editedInput), trust_tool, trust_server, trust_always (approve, and stop asking for this tool, MCP server, task), answer (what the person says to a question, in "answer"; deny declines one that is a pending action). Any other word is refused.

title and shown: as the person saw them. A client that can ask its person must send the title, because its dialog shows it. If either is not the action's, the bridge refuses the decision and shows the question as it is now. Show it to the person again; never send a code that they have not seen.

Several at once: put them into decisions. The call waits up to waitSeconds for the task to end or to ask again.`,
  input: z.strictObject({
    // The decision comes first, because models write arguments in the order of the schema, and clients show them in
    // that order.
    decision: singleWord,
    title: singleTitle,
    sessionId: fields.sessionIdSchema,
    ...single,
    agent: fields.ownerAgentSchema,
    decisions: z
      .array(listedDecision)
      .min(1)
      .max(100)
      .optional()
      .describe('Several decisions, each with these fields.'),
    waitSeconds: fields.waitSecondsSchema,
  }),
  output: sessionResultSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  card: 'shows',
  alwaysLoad: true,
  decides: true,
  async run({ sessionId, agent, decisions, waitSeconds, ...decided }, call) {
    if (call.client.round !== undefined) return continueAfterFormRound(call, call.client.round, waitSeconds);
    refuseIfHumanOnly(call, sessionId);
    const inputs = decisionsOfToolCall(decided, decisions);
    const session = await call.bridge.sessions.find(sessionId, { agent });
    await session.refresh();
    const reports = pendingReports(session.view?.pending ?? []);
    refuseIncompletePreviews(reports, inputs);
    const taskId = session.view?.taskId ?? '';
    const inPart = findIncompletePreviewError(inputs, (shown) =>
      call.bridge.incompletePreviews.has(taskId, shown),
    );
    if (inPart !== undefined) return replyWithCurrentAction(call, session, inPart);
    const otherTitle = wrongTitleError(reports, inputs, call.client.forms !== 'none');
    if (otherTitle !== undefined) return replyWithCurrentAction(call, session, otherTitle);
    const given = inputs.map((input) => toPersonDecision(input));
    call.beforeSending();
    const delivery = sendDecisions(session, given, 'tool');
    call.awaits({ session, delivery });
    let confirmed = false;
    void delivery.then(
      () => (confirmed = true),
      () => undefined,
    );
    return awaitSession(call, {
      session,
      delivery,
      timeout: call.waitMs(waitSeconds),
      notes: () => (confirmed ? [] : [unconfirmedDecisionNote(session)]),
      // The caller needs the outcome of the decision, so this tool call returns no MCP task.
      asTask: false,
    })
      .then((reply) => {
        // If the decision fails later, a note in the session reports it. For a cancelled tool call, the next reply
        // reports the failure anyway (`CancelledMcpCalls`), so no note is left.
        if (!confirmed && !call.signal.aborted) noteLateFailure(session, delivery);
        return reply;
      })
      .catch((error: unknown) => replyIfInputChanged(call, session, error));
  },
});

/**
 * Refuses the decision and shows the current action, if the pending action has changed. D2: a decision is valid only
 * for what the person saw.
 */
async function replyIfInputChanged(
  call: ToolCallContext,
  session: Session,
  error: unknown,
): Promise<ToolReply<SessionResult>> {
  if (!(error instanceof ProductError) || error.reason !== 'INPUT_CHANGED') throw error;
  await session.fetchTask();
  return replyWithCurrentAction(call, session, error);
}

function replyWithCurrentAction(
  call: ToolCallContext,
  session: Session,
  { reason, facts, message }: ProductError,
): ToolReply<SessionResult> {
  const { structured, text, ...reply } = sessionReply(call, session, { end: 'settled', again: 'always' });
  const notes = [message, ...(structured.notes ?? [])];
  return {
    ...reply,
    structured: { ...structured, notes },
    text: `${message}\n\n${text}`,
    refusal: { reason, facts },
  };
}
