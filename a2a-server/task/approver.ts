/**
 * Decides who may approve a tool call. A rule of the policy, or the setting `fourEyes`, can demand that the approver
 * sent the task no message. A rule can also demand that the approver is in a group. The demand is in the journal with
 * the call, so a later policy does not weaken it. A denial and an answer need no such approver, because they let
 * nothing run. Pure.
 */
import {
  inGroupsText,
  approverText,
  type DemandedApprover,
} from '../../shared/protocol/demanded-approver.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { CommandRefusal } from './command-outcome.ts';
import type { ResolvedDecision } from './decide.ts';
import type { Call, Snapshot } from './snapshot.ts';

/** What the policy demands of the approver. All conditions must hold. */
export interface ApproverDemand {
  /** The approver must not have sent the task a message. */
  fourEyes?: true;
  /** The approver must be in each of these groups. */
  groups?: readonly string[];
}

/** A person who wants to approve. Without `groups`, the person is in no group. */
export interface Approver {
  principal: string;
  groups?: readonly string[];
}

/** Combines several demands into one. Returns undefined if there is no demand. */
export function mergeApproverDemands(
  ...demands: readonly (ApproverDemand | undefined)[]
): ApproverDemand | undefined {
  const fourEyes = demands.some((it) => it?.fourEyes === true);
  const groups = [...new Set(demands.flatMap((it) => it?.groups ?? []))];
  if (!fourEyes && groups.length === 0) return undefined;
  return { ...(fourEyes && { fourEyes }), ...(groups.length > 0 && { groups }) };
}

/** True if every approver who meets the demand `met` also meets `demand`. */
export function coversApproverDemand(met: ApproverDemand | undefined, demand: ApproverDemand): boolean {
  return (
    (demand.fourEyes !== true || met?.fourEyes === true) &&
    (demand.groups ?? []).every((group) => met?.groups?.includes(group) === true)
  );
}

/**
 * Returns the demand that the approver of the tool call met. An earlier version of the server recorded no demand with
 * the decision, only the name of the approver. So this function checks `fourEyes` by the name.
 */
export function metApproverDemand(
  snapshot: Pick<Snapshot, 'principal' | 'otherSenders'>,
  { decided }: Pick<Call, 'decided'>,
): ApproverDemand | undefined {
  if (decided === null) return undefined;
  const isOther = !delegators(snapshot).includes(decided.by.principal);
  return mergeApproverDemands(decided.approver, isOther ? { fourEyes: true } : undefined);
}

/** Returns the principals who sent messages to the task. */
export function delegators({
  principal,
  otherSenders = [],
}: Pick<Snapshot, 'principal' | 'otherSenders'>): readonly string[] {
  return [principal, ...otherSenders];
}

/**
 * Returns who may approve in this task. With `fourEyes`, nobody who sent the task a message may approve. While a tool
 * call waits, the task accepts no messages, so the result stays the same.
 */
export function resolveApproverDemand(
  snapshot: Pick<Snapshot, 'principal' | 'otherSenders'>,
  { fourEyes, groups }: ApproverDemand,
): DemandedApprover {
  return {
    ...(fourEyes === true && { otherThan: [...delegators(snapshot)] }),
    ...(groups !== undefined && { groups: [...groups] }),
  };
}

export function meetsApproverDemand(
  demanded: DemandedApprover,
  { principal, groups = [] }: Approver,
): boolean {
  const { otherThan = [], groups: needed = [] } = demanded;
  return !otherThan.includes(principal) && needed.every((group) => groups.includes(group));
}

/** Returns the demand that the approver of this decision must meet. Returns undefined for a denial and an answer. */
export function approverDemandOnDecision(
  call: Pick<Call, 'approver'>,
  { decision, approver }: Pick<ResolvedDecision, 'decision' | 'approver'>,
): ApproverDemand | undefined {
  return decision === 'approve' || decision === 'edit'
    ? mergeApproverDemands(call.approver, approver)
    : undefined;
}

/** Returns the refusal of a decision that another person must make. Returns undefined if this person may decide. */
export function approverRefusal(
  snapshot: Snapshot,
  { call, decision }: { call: Call; decision: ResolvedDecision },
  by: Approver,
): CommandRefusal | undefined {
  const demand = approverDemandOnDecision(call, decision);
  if (demand === undefined) return undefined;
  const demanded = resolveApproverDemand(snapshot, demand);
  return meetsApproverDemand(demanded, by)
    ? undefined
    : otherApproverRequired(snapshot, call, { demanded, by });
}

function otherApproverRequired(
  { principal: owner }: Snapshot,
  { callId, title }: Call,
  { demanded, by }: { demanded: DemandedApprover; by: Approver },
): CommandRefusal {
  const { otherThan, groups } = demanded;
  return {
    type: 'refuse',
    reason: 'OTHER_APPROVER_REQUIRED',
    message: `Call ${callId} (${visibleLine(title)}) needs the approval of ${approverText(demanded)}: ${unmetBy(demanded, by)}. The policy of this server demands it. ${whoCan(owner, demanded)}. Nothing was decided.`,
    facts: {
      callId,
      ...(otherThan && { delegators: otherThan.join(',') }),
      ...(groups && { groups: groups.join(',') }),
    },
  };
}

function unmetBy(
  { otherThan = [], groups: needed = [] }: DemandedApprover,
  { principal, groups = [] }: Approver,
): string {
  const missing = needed.filter((group) => !groups.includes(group));
  const reasons = [
    ...(otherThan.includes(principal) ? ['sent this task a message'] : []),
    ...(missing.length > 0 ? [`is not ${inGroupsText(missing)}`] : []),
  ];
  return `${principal} ${reasons.join(', and ')}`;
}

function whoCan(owner: string, { otherThan, groups }: DemandedApprover): string {
  const end = owner.indexOf('/');
  const tenant = end === -1 ? undefined : owner.slice(0, end);
  const role = `with the role approve${groups === undefined ? '' : ` and ${inGroupsText(groups)}`}`;
  if (otherThan === undefined)
    return `A token ${role} can, of ${tenant === undefined ? owner : `a principal of the tenant ${tenant}`}`;
  return tenant === undefined
    ? `${owner} has no tenant, so nobody else can. Deny it, or use a token with a tenant`
    : `Any other principal of the tenant ${tenant} ${role} can, except ${otherThan.join(', ')}`;
}
