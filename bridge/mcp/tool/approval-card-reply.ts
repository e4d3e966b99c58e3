/** Builds the reply of the tools that the approval card calls. */
import { countWithNoun } from '../../../shared/text/one-line.ts';
import { pageAddress } from '../../../shared/net/page-address.ts';
import type { CardState } from '../../approvals/approval-card.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import type { Agent } from '../../agents/agent.ts';
import { declaresExtension } from '../../agents/card.ts';
import { toClientSessionState } from '../../dialects/session-state-for-client.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { BridgeContext } from '../bridge-context.ts';
import type { ToolReply } from './tool-result.ts';

/**
 * Returns the state of a session for the card. With the setting `human-only`, the card gets no codes, because a tool
 * call does not prove that a person decided. For an action that demands a passkey, the card also gets no code, because
 * only the server's page can use a passkey. In both cases, the card gets the URL of the page, where the person must
 * sign in.
 */
export async function approvalCardReply(
  { rules, cardCodes }: Pick<BridgeContext, 'rules' | 'cardCodes'>,
  session: Session,
): Promise<ToolReply<CardState>> {
  const { id, agent, view, stateName, pendingInput } = session;
  const taskId = view?.taskId ?? '';
  const onlyShows = rules.approvals === 'human-only';
  const pending = (view?.pending ?? []).map((action) => ({
    action,
    ...(!onlyShows &&
      action.presence !== true && {
        code: cardCodes.issue({ agent: agent.name, taskId, callId: action.callId, shown: action.shown }),
      }),
  }));
  const needsPage = pending.some((each) => !('code' in each));
  const page = needsPage ? await pageOf(agent, taskId) : undefined;
  const question = pending.length === 0 ? pendingInput.question?.text : undefined;
  return {
    structured: {
      sessionId: id,
      agent: agent.name,
      state: toClientSessionState(stateName),
      message: view?.text ?? '',
      pending,
      decided: (view?.calls ?? []).flatMap(({ callId, decided }) =>
        decided === null ? [] : [{ callId, ...decided }],
      ),
      ...(question !== undefined && { question }),
      ...(page !== undefined && { page }),
    },
    text: `The approval card shows session ${id}: ${countWithNoun(pending.length, 'pending action')}.`,
  };
}

/** Returns the URL of the agent's approval page. Returns undefined if the agent has no page or cannot be reached. */
async function pageOf(agent: Agent, taskId: string): Promise<string | undefined> {
  const connection = await agent.connect().catch(() => undefined);
  if (agent.url === undefined || connection === undefined) return undefined;
  return declaresExtension(connection.facts, TOOL_APPROVAL_EXTENSION)
    ? pageAddress(agent.url, { taskId })
    : undefined;
}
