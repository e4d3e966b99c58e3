import { ProductError } from '../../../shared/runtime/errors.ts';
import type { ResolvedTargets } from '../../policy/call-facts.ts';
import { resolveTargets } from '../../policy/resolve-targets.ts';
import type { Policy } from '../../policy/create-policy.ts';
import { taskModeOf } from '../../policy/task-mode.ts';
import {
  approverDemandOfRules,
  decideVerdict,
  denyRuleMessage,
  findPresenceRuleName,
} from '../../policy/verdict.ts';
import { coversApproverDemand, metApproverDemand, mergeApproverDemands } from '../../task/approver.ts';
import type { Call, Snapshot } from '../../task/snapshot.ts';
import type { Tool, ToolResult, ToolRun } from '../../tools/tool.ts';

/**
 * Applies the rules that deny, or demand presence or an approver, directly before the tool runs. So a new rule stops
 * even a call that was approved before a restart. The rules apply to the place to which a path leads now, e.g. through
 * a changed symbolic link. A call that no person decided also stops if a person would have to decide now.
 * @throws OwnershipLostError if another server may continue the task
 */
export async function recheckPolicyAndRun(
  { tool, task, call }: { tool: Tool; task: Snapshot; call: Call },
  policy: Policy,
  run: Omit<ToolRun, 'goesTo' | 'mayRead'>,
): Promise<ToolResult> {
  // The demands of the call and of the server on the approver apply only if a person decided. Otherwise only the
  // demands of the rules apply.
  const ofDecision = call.decided === null ? undefined : mergeApproverDemands(call.approver, policy.approver);
  // Without rules and without a demanded approver, there is nothing to check again, except in the mode `accept-edits`:
  // the paths of the call must still lead to files that this mode may change unasked.
  const acceptsEdits = call.decided === null && taskModeOf(task.settings) === 'accept-edits';
  if (policy.rules.length === 0 && ofDecision === undefined && !acceptsEdits)
    return tool.run(call.input, { ...run, goesTo: () => undefined, mayRead: () => true });
  const met = metApproverDemand(task, call);
  const reach = await resolveTargets(tool, call.input, { ...run, acceptsEdits });
  const approved = { ...call, reach };
  const otherRules = policy.rules.filter(({ matches }) => matches(approved) === 'no');
  // The person's passkey approved only the targets in the input. A redirect may lead to a target of another rule. So
  // the rules that did not match the input are checked again.
  const unproven = call.decided?.presence === true ? { rules: otherRules } : policy;
  const check = (more?: Pick<ResolvedTargets, 'hosts'>): void => {
    const facts = { ...approved, reach: { ...reach, ...more } };
    const denied = denyRuleMessage(facts, policy);
    if (denied !== undefined) throw new ProductError('FORBIDDEN', denied);
    const presenceRule = findPresenceRuleName(facts, unproven);
    if (presenceRule !== undefined)
      throw new ProductError(
        'FORBIDDEN',
        `No person has approved this call with a passkey, and ${presenceRule} demands presence. It was not run. Request the call again, so that the person is asked.`,
      );
    const demand = mergeApproverDemands(approverDemandOfRules(facts, policy), ofDecision);
    if (demand !== undefined && !coversApproverDemand(met, demand))
      throw new ProductError(
        'FORBIDDEN',
        'The policy demands another approver than the one of this call. It was not run. Request the call again, so that this approver is asked.',
      );
    if (call.decided !== null) return;
    const { settings, grants } = task;
    const verdict = decideVerdict(facts, { policy, settings, grants });
    // In two cases, the verdict `ask` stops the call only if a rule asks. First, a grant allowed the call: the grant
    // may be used up now. Second, the call follows a redirect: the `allow` rule for its first host does not match the
    // new host.
    const allowedBefore = call.grantId !== null || more !== undefined;
    if (verdict.type === 'ask' && (verdict.rule !== undefined || !allowedBefore))
      throw new ProductError(
        'FORBIDDEN',
        more === undefined
          ? `By now, a person must decide about this call${verdict.rule === undefined ? '' : `: ${verdict.rule}`}. A path leads elsewhere, or the rules have changed. It was not run. Request the call again, so that a person is asked.`
          : `The address redirects to another host, and a person must decide about that host: ${verdict.rule ?? ''}. The redirect was not followed. Request the address that it leads to, so that a person is asked.`,
      );
  };
  check();
  const mayRead = (path: string): boolean => {
    const facts = { ...approved, reach: { ...reach, paths: [{ written: path, leadsTo: path }] } };
    return otherRules.every(({ action, matches }) => action === 'allow' || matches(facts) === 'no');
  };
  // E1: the machine may have paused this process while the targets were resolved. The lease may have ended meanwhile,
  // and another server may own the task. The timer that reports the end of the lease may not have run yet.
  run.requireClaim();
  return tool.run(call.input, { ...run, mayRead, goesTo: (hosts) => check({ hosts }) });
}
