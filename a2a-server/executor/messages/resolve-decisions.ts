/**
 * Prepares a client's decisions for the pure `decideCalls`. D4: an edit is validated like a model's input, and gets a
 * new preview. D2: if the shown content has changed, the person must decide again.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { PresenceAssertion } from '../../../shared/protocol/presence-assertion.ts';
import type { PresenceProof } from '../../../shared/presence/presence-proof.ts';
import type { Decision, DecisionsPart } from '../../../shared/protocol/tool-approval.ts';
import { decidedTwiceRefusal, type ResolvedDecision } from '../../task/decide.ts';
import type { Policy } from '../../policy/create-policy.ts';
import { denyRuleMessage, findPresenceRuleName, approverDemandOfRules } from '../../policy/verdict.ts';
import { shownCodeOf } from '../../task/shown-code-of-call.ts';
import { findCall, type Call, type Snapshot } from '../../task/snapshot.ts';
import type { Tool } from '../../tools/tool.ts';
import { parseInput, type Toolbox } from '../../tools/toolbox.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import type { PageTarget } from '../../../shared/net/page-address.ts';
import { mayBecomeOutdated, outdatedEvent, type OutdatedEvent } from '../../tools/shown-content.ts';
import { ABSENT_FILE_BASIS } from '../../tools/workspace/text-file.ts';
import { toProductError } from './command-result.ts';
import { buildShownCall, type ShownCall } from '../model-turn/prepare-call.ts';

interface EditContext {
  toolbox: Toolbox;
  /** Returns the policy that applies now. */
  policy: () => Policy;
  openWorkspace: (path: string | undefined) => Promise<Workspace>;
  presence: Pick<PresenceVerifier, 'prove'>;
  /** The principal who decides. */
  by: string;
}

export interface PresenceVerifier {
  /**
   * Checks an assertion of one of the principal's passkeys, and uses up its challenge.
   * @throws ProductError PRESENCE_REQUIRED for every assertion that is not valid
   */
  prove(principal: string, assertion: PresenceAssertion): Promise<PresenceProof>;
  /** Returns the page's URL for an action, at the only address where passkeys work. The URL alone gives no access. */
  address(target: PageTarget): string;
}

export type DecisionsResult =
  | { type: 'resolved'; decisions: ResolvedDecision[] }
  /** The content has changed since the person saw it. The caller must append this event and decide nothing. */
  | { type: 'outdated'; call: Call; event: OutdatedEvent };

/**
 * Returns the decisions as `decideCalls` needs them, or the event that asks the person again.
 * @throws ProductError INVALID_DECISION for an invalid edit, PRESENCE_REQUIRED for an invalid assertion. E3: a refused
 * decision changes nothing.
 */
export async function resolveDecisions(
  { decisions }: DecisionsPart,
  snapshot: Snapshot,
  context: EditContext,
): Promise<DecisionsResult> {
  const { presence, by } = context;
  const resolved: ResolvedDecision[] = [];
  for (const decision of decisions) {
    const call = findCall(snapshot, decision.callId);
    const edits = call !== undefined && mayEdit(call, decision);
    // X3: the preview of an edit takes time. So a message with several edits of one call is refused before the first
    // preview.
    const repeated = edits ? decidedTwiceRefusal(decisions, decision) : undefined;
    if (repeated) throw toProductError(repeated);
    const edit = edits ? await resolveEdit({ decision, call }, snapshot, context) : NO_EDIT;
    if (edit.type === 'outdated') return edit;
    resolved.push({
      callId: decision.callId,
      decision: decision.decision,
      scope: decision.scope,
      grant: decision.grant,
      reason: decision.reason ?? null,
      shown: decision.shown,
      ...(decision.answer !== undefined && { answer: decision.answer }),
      ...edit.fields,
      ...(decision.presence && { presence: await presence.prove(by, decision.presence) }),
    });
  }
  return { type: 'resolved', decisions: resolved };
}

/**
 * False if the decision is not an edit, or if `decideCalls` will refuse the edit: the tool call does not wait, or the
 * decision belongs to another question.
 */
function mayEdit(call: Call, { decision, shown }: Decision): boolean {
  const { state } = call;
  return decision === 'edit' && state.type === 'waiting' && shown === shownCodeOf(call, state.reason);
}

type ResolvedEdit =
  | { type: 'edited'; fields: Pick<ResolvedDecision, 'edited' | 'editPresenceRule' | 'approver'> }
  | Extract<DecisionsResult, { type: 'outdated' }>;

const NO_EDIT: ResolvedEdit = { type: 'edited', fields: { edited: null } };

async function resolveEdit(
  { decision, call }: { decision: Decision; call: Call },
  snapshot: Snapshot,
  { toolbox, policy, openWorkspace }: EditContext,
): Promise<ResolvedEdit> {
  const { signal } = new AbortController();
  await toolbox.settled(signal);
  const tool = toolbox.get(call.tool);
  if (tool === undefined) throw invalidEditError(call, toolbox.absence(call.tool));
  const parsed = parseInput(tool, newInput(decision, call, tool));
  if (!parsed.ok) throw invalidEditError(call, parsed.message);
  const workspace = await openWorkspace(snapshot.settings.workspace);
  const { principal } = snapshot;
  // A person decides about the edit, and the mode of the task does not. So `acceptsEdits` is false.
  const place = { principal, workspace, signal, acceptsEdits: false };
  const shown = await buildShownCall(tool, parsed.input, place);
  // The files are checked after the preview of the edit. An earlier check would miss a change between the two.
  const event = await findOutdatedEvent(call, tool, place);
  if (event !== undefined) return { type: 'outdated', call, event };
  if (!shown.ok) throw invalidEditError(call, shown.message);
  if (isUnseen(shown.call, call))
    throw invalidEditError(call, 'it would change a file whose content was not shown');
  const facts = { ...call, reach: shown.reach };
  const rules = policy();
  const denied = denyRuleMessage(facts, rules);
  if (denied !== undefined) throw invalidEditError(call, denied);
  const rule = findPresenceRuleName(facts, rules);
  const approver = approverDemandOfRules(facts, rules);
  const demands = { ...(rule !== undefined && { editPresenceRule: rule }), ...(approver && { approver }) };
  return { type: 'edited', fields: { edited: shown.call, ...demands } };
}

/** True if the edit changes content that the proposed call does not change. The person has not seen that content. */
function isUnseen(edit: ShownCall, { basis }: Call): boolean {
  return basis !== null && edit.basis !== basis && edit.basis !== ABSENT_FILE_BASIS;
}

/** Compares the proposed call with the current files. Returns undefined if the person saw the current content. */
async function findOutdatedEvent(
  call: Call,
  tool: Tool,
  place: Parameters<typeof buildShownCall>[2],
): Promise<OutdatedEvent | undefined> {
  if (!mayBecomeOutdated(call)) return undefined;
  const now = await buildShownCall(tool, call.input, place);
  if (now.ok) return outdatedEvent(call, now.call);
  // If the call has no basis, the failed preview is no reason to refuse its edit. An example is a command whose
  // directory is gone: the edit may name another directory.
  if (call.basis !== null)
    throw invalidEditError(
      call,
      `the proposed change is no longer possible (${now.message}). Deny it, and say in the reason what you want`,
    );
  return undefined;
}

function newInput(decision: Decision, call: Call, tool: Tool): unknown {
  if (decision.content === undefined) return decision.input;
  if (tool.withContent === undefined)
    throw invalidEditError(
      call,
      `${call.tool} does not write a whole text, so "content" has no meaning. Edit its input`,
    );
  return tool.withContent(decision.input ?? call.input, decision.content);
}

function invalidEditError(call: Call, why: string): ProductError {
  return new ProductError(
    'INVALID_DECISION',
    `The edit of call ${call.callId} was not accepted: ${why}. The call still waits.`,
    { facts: { callId: call.callId } },
  );
}
