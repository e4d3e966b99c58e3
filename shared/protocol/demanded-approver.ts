/** Who may approve a pending action, if the policy of the server demands a special approver. */
import * as z from 'zod/mini';
import { visibleLine } from '../text/visible-text.ts';

export const demandedApproverSchema = z.object({
  /** The users who must not approve, because each of them has sent the task a message. */
  otherThan: z.optional(z.array(z.string())),
  /** The groups of which the approver must be a member. All of them are required. */
  groups: z.optional(z.array(z.string())),
});
export type DemandedApprover = z.infer<typeof demandedApproverSchema>;

/**
 * Returns who must approve this action, if the reader of the action is not allowed to. Returns undefined if the reader
 * may approve it, or if no special approver is demanded.
 */
export function otherApprover({
  approver,
  decisions,
}: {
  approver?: DemandedApprover | undefined;
  decisions: readonly string[];
}): DemandedApprover | undefined {
  return decisions.includes('approve') ? undefined : approver;
}

/**
 * Returns a sentence for a person who is not allowed to approve, e.g. `Needs the approval of somebody else, in group
 * release`.
 */
export function demandedApproverText(demanded: DemandedApprover): string {
  return `Needs the approval of ${somebodyElse(demanded)}`;
}

/** Returns a text such as `somebody else, in group release`. */
export function somebodyElse({ groups = [] }: DemandedApprover): string {
  return ['somebody else', ...(groups.length === 0 ? [] : [inGroups(groups)])].join(', ');
}

/** Returns a text such as `in group release`, or `in the groups release and security`. */
export function inGroups(groups: readonly string[]): string {
  const names = groups.map((name) => visibleLine(name));
  return names.length === 1 ? `in group ${names.join('')}` : `in the groups ${names.join(' and ')}`;
}
