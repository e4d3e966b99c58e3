/** The MCP tool `decide_on_approval_card`: sends the decision that a person made on the approval card. */
import { z } from 'zod';
import { cardStateSchema } from '../../approvals/approval-card.ts';
import { decisionSchema } from '../../../shared/protocol/tool-approval.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { noteLateFailure, sentInTime, unconfirmedDecisionNote } from '../../approvals/sent-in-time.ts';
import { sendDecisions } from '../../approvals/send-decisions.ts';
import type { PersonDecision } from '../../dialects/dialect.ts';
import { approvalCardReply } from '../tool/approval-card-reply.ts';
import { refuseIfHumanOnly } from '../reports/human-only-guidance.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';

export const decideOnApprovalCardTool = defineBridgeTool({
  name: 'decide_on_approval_card',
  title: 'Decide on the approval card',
  description:
    'Only for the approval card: sends the decision of the person who pressed a button on the card.',
  input: z.strictObject({
    sessionId: fields.sessionIdSchema,
    agent: fields.ownerAgentSchema,
    code: z.string().min(1).max(100).describe('The code of the action, for one decision.'),
    decision: decisionSchema,
  }),
  output: cardStateSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  card: 'uses',
  async run({ sessionId, agent, code, decision }, call) {
    const { sessions, cardCodes } = call.bridge;
    refuseIfHumanOnly(call, sessionId);
    const session = await sessions.find(sessionId, { agent });
    await session.refresh();
    const { callId, shown } = decision;
    const taskId = session.view?.taskId ?? '';
    cardCodes.use(code, { agent: session.agent.name, taskId, callId, shown });
    call.beforeSending();
    const sending = sendDecisions(session, [toPersonDecision(decision)], 'card');
    const { signal } = call;
    if ((await sentInTime(sending, { timeout: call.waitMs(undefined), signal })) === 'unconfirmed') {
      noteLateFailure(session, sending);
      throw new ProductError('AGENT_UNREACHABLE', unconfirmedDecisionNote(session));
    }
    return approvalCardReply(call.bridge, session);
  },
});

function toPersonDecision(decision: z.output<typeof decisionSchema>): PersonDecision {
  const { callId, shown, answer } = decision;
  return answer === undefined ? { type: 'decision', decision } : { type: 'answer', callId, shown, answer };
}
