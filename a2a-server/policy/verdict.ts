/**
 * Computes the policy's verdict on a tool call: run it, ask a person, or refuse it. `deny` has precedence over
 * `presence`, `presence` over `ask`, and `ask` over `allow`. The order of the rules has no influence.
 *
 * 1. A `deny` rule refuses the call. A read-only task refuses every call with side effects.
 * 2. A `presence` rule asks, and a person can approve only with a passkey. This also holds for an uncertain match. An
 *   `ask` rule asks. A `deny` rule with an uncertain match (`maybe`) also asks.
 * 3. A read-only call runs. So does a call that matches an `allow` rule, or that the task's mode allows (`auto`,
 *   `accept-edits`), or that a grant covers.
 * 4. All other calls wait for a decision.
 *
 * So a mode or a grant never overrides `deny`, `presence` or `ask`.
 *
 * The rules of step 2 may also say who may approve. If several match, the approver must meet all of them. If the server
 * itself demands an approver, no mode allows a call.
 */
import type { TaskSettings, ToolSource } from '../../shared/protocol/tool-approval.ts';
import { mergeApproverDemands, type ApproverDemand } from '../task/approver.ts';
import type { AllowReason, PolicyVerdict } from '../task/events.ts';
import type { Grant } from '../task/grants.ts';
import type { CallFacts } from './call-facts.ts';
import { taskModeOf, isReadOnlyMode } from './task-mode.ts';
import { EMPTY_POLICY, type Policy } from './create-policy.ts';
import { changesRunLaterFile } from './run-later-files.ts';

interface PolicyContext {
  policy?: Policy;
  settings: TaskSettings;
  grants: readonly Grant[];
}

export function decideVerdict(
  call: CallFacts,
  { policy = EMPTY_POLICY, settings, grants }: PolicyContext,
): PolicyVerdict {
  const denied = denyRuleMessage(call, policy);
  if (denied !== undefined) return { type: 'refuse', message: denied };
  if (call.sideEffect !== 'none' && isReadOnlyMode(settings))
    return {
      type: 'refuse',
      message: `This task is read-only: ${call.tool} has side effects and was not run.`,
    };
  const demand = mergeApproverDemands(approverDemandOfRules(call, policy), policy.approver);
  const approver = demand && { approver: demand };
  const presence = findPresenceRuleName(call, policy);
  if (presence !== undefined) return { type: 'ask', rule: presence, presence: true, ...approver };
  const asked = askingRule(call, policy.rules);
  if (asked !== undefined) return { type: 'ask', rule: asked, ...approver };
  const because = findAllowReason(call, { policy, settings, grants });
  return because === undefined ? { type: 'ask', ...approver } : { type: 'allow', because, ...approver };
}

/** Returns the message for the model if a deny rule matches the tool call. Otherwise returns undefined. */
export function denyRuleMessage(call: CallFacts, policy: Policy): string | undefined {
  const rule = policy.rules.find(({ action, matches }) => action === 'deny' && matches(call) === 'yes');
  return (
    rule &&
    `The operator of this server forbids this call: ${rule.name}. It was not run. Do not try the same in another form.`
  );
}

/** Returns the name of the rule that demands a person's passkey, if any. */
export function findPresenceRuleName(call: CallFacts, policy: Policy): string | undefined {
  return askingRule(
    call,
    policy.rules.filter(({ action }) => action === 'presence'),
  );
}

/**
 * Returns what the matching rules demand of the approver of the tool call, if anything. This also holds for an
 * uncertain match.
 */
export function approverDemandOfRules(call: CallFacts, { rules }: Policy): ApproverDemand | undefined {
  return mergeApproverDemands(
    ...rules.map(({ approver, matches }) => (approver && matches(call) !== 'no' ? approver : undefined)),
  );
}

/** Returns the name of the rule that requires a person's decision, if any. A rule about the approver comes first. */
function askingRule(call: CallFacts, rules: Policy['rules']): string | undefined {
  const ordered = [...rules.filter(({ approver }) => approver), ...rules.filter(({ approver }) => !approver)];
  for (const { action, name, matches } of ordered) {
    if (action === 'allow') continue;
    const mentioned = matches(call);
    if (mentioned === 'maybe') return `${name}, which may match: the meaning of the command is uncertain`;
    if (mentioned === 'yes') return name;
  }
  return undefined;
}

function findAllowReason(
  call: CallFacts,
  { policy = EMPTY_POLICY, settings, grants }: PolicyContext,
): AllowReason | undefined {
  if (call.sideEffect === 'none') return { type: 'read-only' };
  const rule = policy.rules.find(({ action, matches }) => action === 'allow' && matches(call) === 'yes');
  if (rule) return { type: 'rule', rule: rule.name };
  const mode = policy.approver === undefined ? taskModeOf(settings) : 'ask';
  if (mode === 'auto') return { type: 'auto-execute' };
  if (mode === 'accept-edits' && call.sideEffect === 'files' && !changesRunLaterFile(call.reach))
    return { type: 'accept-edits' };
  // Grants are checked last, because a call that may run without a grant must not use up a grant.
  const grant = grants.find((given) => grantCovers(given, call));
  return grant && { type: 'grant', scope: grant.scope, callId: grant.callId, grantId: grant.grantId };
}

function grantCovers(grant: Grant, call: CallFacts): boolean {
  switch (grant.scope) {
    case 'always':
      return true;
    case 'server':
      return partyOf(grant.source) === partyOf(call.source);
    case 'tool':
      return grant.tool === call.tool && partyOf(grant.source) === partyOf(call.source);
  }
}

/**
 * Returns the MCP server or ACP agent of a tool. A grant with the scope `server` covers all tools of one of them. For a
 * built-in tool, `decide.ts` refuses this scope.
 */
function partyOf(source: ToolSource): string {
  switch (source.type) {
    case 'built-in':
      return 'built-in';
    case 'mcp-server':
      return `mcp:${source.server}`;
    case 'acp-agent':
      return `acp:${source.agent}`;
  }
}
