/**
 * The MCP tool `get_approval_card_state`: returns the pending actions of a session to the approval card. Each action
 * that the card can decide has a code.
 */
import { z } from 'zod';
import { cardStateSchema } from '../../approvals/approval-card.ts';
import { waitForSession } from '../../sessions/wait-for-session.ts';
import { approvalCardReply } from '../tool/approval-card-reply.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';

export const getApprovalCardStateTool = defineBridgeTool({
  name: 'get_approval_card_state',
  title: 'Get the state of the approval card',
  description:
    'Only for the approval card: the pending actions of a session, each with a code for one decision.',
  input: z.strictObject({
    sessionId: fields.sessionIdSchema,
    agent: fields.ownerAgentSchema,
    waitSeconds: z.number().min(0).max(30).optional().describe('How long to wait while the agent works.'),
  }),
  output: cardStateSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  card: 'uses',
  async run({ sessionId, agent, waitSeconds = 0 }, call) {
    const session = await call.bridge.sessions.find(sessionId, { agent });
    await session.refresh();
    const { signal } = call;
    if (waitSeconds > 0) await waitForSession({ session, timeout: waitSeconds * 1000, signal });
    // With this error, the card stops waiting. Without it, each wait would end at once, and the card would call again
    // without a pause.
    if (waitSeconds > 0 && session.streamProblem !== undefined) throw session.streamProblem;
    return approvalCardReply(call.bridge, session);
  },
});
