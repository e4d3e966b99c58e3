/** Who may decide a pending action, if the reader of the action is not allowed to. */
import * as z from 'zod/mini';
import { visibleLine } from '../text/visible-text.ts';

export const demandedApproverSchema = z.object({
  /** The users who must not approve, because each of them has sent the task a message. */
  otherThan: z.optional(z.array(z.string())),
  /** The groups of which the approver must be a member. All of them are required. */
  groups: z.optional(z.array(z.string())),
  /**
   * Present if the reader's token lacks the role that every decision needs. Then the reader cannot deny the action
   * either.
   */
  role: z.optional(
    z.object({
      needed: z.string(),
      /** The roles of the reader's token. */
      held: z.array(z.string()),
      /** The tenant whose users with this role can decide. Absent if the task belongs to no tenant. */
      tenant: z.optional(z.string()),
    }),
  ),
});
export type DemandedApprover = z.infer<typeof demandedApproverSchema>;

/**
 * Returns who must decide this action instead of its reader. Returns undefined if the reader may approve or answer the
 * action, or if no special approver is demanded.
 */
export function approverInsteadOfReader({
  approver,
  decisions,
}: {
  approver?: DemandedApprover | undefined;
  decisions: readonly string[];
}): DemandedApprover | undefined {
  return decisions.includes('approve') || decisions.includes('answer') ? undefined : approver;
}

/**
 * Returns a sentence for a person who is not allowed to approve, e.g. `Needs the approval of somebody else, in group
 * release`. It names the role that the person's token lacks, if that is the reason.
 */
export function approvalNeededText(demanded: DemandedApprover): string {
  const { role } = demanded;
  if (role === undefined) return `Needs the approval of ${approverText(demanded)}`;
  const held = role.held.map((each) => visibleLine(each)).join(' and ');
  return `Needs the decision of ${approverText(demanded)}; your token has ${held === '' ? 'no role' : `only ${held}`}`;
}

/** The roles that may cancel a task (`a2a-server/http/routes/methods-and-roles.ts`). */
const CANCELLING_ROLES = ['delegate', 'operate'];

/** Returns the choices of a reader who may decide nothing: wait, or cancel the task if the reader's role allows it. */
export function choicesWithoutDecisionText({ role }: DemandedApprover): string {
  const cancels = role === undefined || role.held.some((each) => CANCELLING_ROLES.includes(each));
  return cancels ? 'wait, or cancel the task' : 'wait';
}

/**
 * Returns a text such as `somebody else, in group release`, or `somebody with the role approve, in the tenant acme`.
 */
export function approverText({ groups = [], role }: DemandedApprover): string {
  const who = role === undefined ? 'somebody else' : `somebody with the role ${visibleLine(role.needed)}`;
  const tenant = role?.tenant === undefined ? [] : [`in the tenant ${visibleLine(role.tenant)}`];
  return [who, ...tenant, ...(groups.length === 0 ? [] : [inGroupsText(groups)])].join(', ');
}

/** Returns a text such as `in group release`, or `in the groups release and security`. */
export function inGroupsText(groups: readonly string[]): string {
  const names = groups.map((name) => visibleLine(name));
  return names.length === 1 ? `in group ${names.join('')}` : `in the groups ${names.join(' and ')}`;
}
