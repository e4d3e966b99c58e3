/** The MCP tool `revoke_trust`: revokes trust, i.e. decisions that also cover later tool calls. */
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { sentInTime } from '../../approvals/sent-in-time.ts';
import { revokeTrust as revoke } from '../../approvals/revoke-trust.ts';
import { grantText, unexpiredGrantViews } from '../reports/grant-text.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';

const revokeTrustOutputSchema = z.object({
  sessionId: z.string(),
  agent: z.string(),
  grants: z.array(z.string()).describe('The trust that is still valid, if the agent reports it.'),
});

export const revokeTrustTool = defineBridgeTool({
  name: 'revoke_trust',
  title: 'Take back trust',
  description: `Withdraws grants of a session: the named ones, or all. check_task_progress_and_status names them. Later calls ask again, also allowed calls that have not started. Running calls go on: abort_tool_execution stops one.`,
  input: z.strictObject({
    sessionId: fields.sessionIdSchema,
    agent: fields.ownerAgentSchema,
    grantIds: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(1000)
      .optional()
      .describe('Which grants, e.g. "g12".'),
    all: z.boolean().optional().describe('All grants of the session, instead of grantIds.'),
  }),
  output: revokeTrustOutputSchema,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run({ sessionId, agent, grantIds, all }, call) {
    if ((grantIds === undefined) === (all !== true))
      throw new ProductError('INVALID_DECISION', 'Give grantIds, or all: true. Nothing was revoked.');
    const session = await call.bridge.sessions.find(sessionId, { agent });
    await session.refresh();
    call.beforeSending();
    const sending = revoke(session, grantIds ?? 'all', 'tool');
    const { signal } = call;
    if ((await sentInTime(sending, { timeout: call.waitMs(undefined), signal })) === 'unconfirmed')
      throw new ProductError(
        'AGENT_UNREACHABLE',
        `Agent "${session.agent.name}" has not confirmed yet that the trust is revoked, so it may still be valid. The bridge sends the revocation again until the agent confirms it. check_task_progress_and_status shows which trust is left.`,
      );
    await session.fetchTask();
    const grants = unexpiredGrantViews(session.view?.grants, Date.now()).map(grantText);
    const left = grants.length === 0 ? 'No trust is left.' : `Still trusted: ${grants.join('; ')}.`;
    return {
      structured: { sessionId: session.id, agent: session.agent.name, grants },
      text: `Revoked: ${grantIds === undefined ? 'all trust' : grantIds.join(', ')}. ${left}`,
    };
  },
});
