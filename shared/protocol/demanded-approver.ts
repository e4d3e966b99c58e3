/** Who may approve a pending action, if the policy of the server demands a special approver. */
import * as z from 'zod/mini';
import { visibleLine } from '../text/visible-text.ts';

export const demandedApproverSchema = z.object({
  /** None of these principals may approve, because each of them sent the task a message. */
  otherThan: z.optional(z.array(z.string())),
  /** The approver must be in each of these groups. */
  groups: z.optional(z.array(z.string())),
});
export type DemandedApprover = z.infer<typeof demandedApproverSchema>;

/** Returns the demand on the approver, if the reader of this action may not approve it. */
export function otherApprover({
  approver,
  decisions,
}: {
  approver?: DemandedApprover | undefined;
  decisions: readonly string[];
}): DemandedApprover | undefined {
  return decisions.includes('approve') ? undefined : approver;
}

/** Says who must approve, for a person who may not. E.g. `Needs the approval of somebody else, in group release`. */
export function demandedApproverText(demanded: DemandedApprover): string {
  return `Needs the approval of ${somebodyElse(demanded)}`;
}

/** Returns e.g. `somebody else, in group release`. */
export function somebodyElse({ groups = [] }: DemandedApprover): string {
  return ['somebody else', ...(groups.length === 0 ? [] : [inGroups(groups)])].join(', ');
}

/** Returns e.g. `in group release`, or `in the groups release and security`. */
export function inGroups(groups: readonly string[]): string {
  const names = groups.map((name) => visibleLine(name));
  return names.length === 1 ? `in group ${names.join('')}` : `in the groups ${names.join(' and ')}`;
}
