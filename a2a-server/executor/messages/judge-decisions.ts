import type { DecisionStatement } from '../../../shared/presence/presence-proof.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import type { Decision, DecisionsPart } from '../../../shared/protocol/tool-approval.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Requester } from '../../access/requester.ts';
import { mergeApproverDemands, type Approver } from '../../task/approver.ts';
import { isRefusal, type CommandOutcome } from '../../task/command-outcome.ts';
import { askAgain, decideCalls, outdatedQuestionRefusal, type ResolvedDecision } from '../../task/decide.ts';
import type { Decider } from '../../task/events.ts';
import { decisionStatement } from '../../task/presence.ts';
import { findCall, type Snapshot } from '../../task/snapshot.ts';
import { requireVisibleRow, requireSnapshot } from '../queries/task-lookup.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';
import { pickRequesterGroups, toProductError } from './command-result.ts';
import type { MessageContext } from './message-context.ts';
import { resolveDecisions, type DecisionsResult } from './resolve-decisions.ts';

/**
 * Checks decisions from every channel, and returns their events or a refusal. A refusal that demands a passkey contains
 * the address of the page.
 */
export function judgeDecisions(
  snapshot: Snapshot,
  decisions: readonly ResolvedDecision[],
  decided: { by: Decider & Approver; at: number },
  { policy, presence }: Pick<MessageContext, 'policy' | 'presence'>,
): CommandOutcome {
  const { approver: ofServer } = policy();
  // The journal stores the demands on the approver with each tool call. Old journals lack them, so the demands of
  // this server's policy apply too.
  const demanding = decisions.map((decision) => {
    const approver = mergeApproverDemands(decision.approver, ofServer);
    return { ...decision, ...(approver && { approver }) };
  });
  const outcome = decideCalls(snapshot, demanding, decided);
  if (!isRefusal(outcome) || outcome.reason !== 'PRESENCE_REQUIRED') return outcome;
  const { facts } = outcome;
  const address = presence.address({ taskId: snapshot.taskId, callId: facts?.['callId'] });
  const message = `${outcome.message} The page is ${address}; \`mcp-a2a-bridge page\` signs a browser in.`;
  return { ...outcome, message, facts: { ...facts, address } };
}

/**
 * Asks the person again about a tool call whose files have changed, and then always throws. D2: a decision binds to
 * what was shown.
 * @throws ProductError the refusal of the old decision
 */
export async function askAgainAndRefuse(
  taskId: string,
  { call, event }: Extract<DecisionsResult, { type: 'outdated' }>,
  taskJournal: TaskJournal,
): Promise<never> {
  await taskJournal.change(taskId, (s) => askAgain(s, call, event));
  const { reason, message, facts } = outdatedQuestionRefusal(call, 'content-changed');
  throw new ProductError(reason, message, facts && { facts });
}

export async function presenceStatement(
  { taskId, by, decision }: { taskId: string; by: Requester; decision: Decision },
  context: MessageContext,
): Promise<DecisionStatement> {
  const { journal, taskJournal, clock } = context;
  await requireVisibleRow(journal, taskId, by);
  const known = await requireSnapshot(taskJournal, taskId);
  const part: DecisionsPart = { extension: TOOL_APPROVAL_EXTENSION, decisions: [decision] };
  const resolved = await resolveDecisions(part, known, { ...context, by: by.principal });
  if (resolved.type === 'outdated') return askAgainAndRefuse(taskId, resolved, taskJournal);
  const approver = { principal: by.principal, channel: 'page', ...pickRequesterGroups(by) };
  const outcome = judgeDecisions(known, resolved.decisions, { by: approver, at: clock.now() }, context);
  if (isRefusal(outcome) && outcome.reason !== 'PRESENCE_REQUIRED') throw toProductError(outcome);
  const call = findCall(known, decision.callId);
  const [only] = resolved.decisions;
  const signed =
    call?.state.type === 'waiting' && only
      ? decisionStatement(known, { ...call, state: call.state }, only)
      : undefined;
  if (signed === undefined)
    throw new ProductError('INVALID_DECISION', 'Only an approval or an edit takes a passkey.');
  return signed;
}
