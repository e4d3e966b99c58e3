/** Offers the reader of a task only the decisions that the reader may make, and says who makes the others. Pure. */
import { approvalNeededText, type DemandedApprover } from '../../../shared/protocol/demanded-approver.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { tenantOf } from '../../access/requester.ts';
import type { Role } from '../../access/role.ts';
import { type Approver, meetsApproverDemand } from '../../task/approver.ts';

/** The person or program that reads a task, with the roles of its token. */
export interface TaskReader extends Approver {
  roles: readonly Role[];
}

/** The role that every decision needs (`permitted-message.ts`). */
const DECIDING_ROLE: Role = 'approve';

/** The fields of a pending action that say who may make which decision. */
export type OfferedDecisions = Pick<PendingAction, 'approver' | 'decisions'>;

/**
 * Returns the action with only the decisions that the reader may make. If the reader's token lacks the role that
 * decisions need, the action names that role.
 * @param reader undefined if the server does not know the reader. Such a reader gets all decisions.
 */
export function actionForReader<Action extends OfferedDecisions>(
  action: Action,
  reader: TaskReader | undefined,
): Action {
  const { approver, decisions } = action;
  const role = missingRole(reader);
  if (role !== undefined) return { ...action, approver: { ...approver, role }, decisions: [] };
  if (approver === undefined || reader === undefined || meetsApproverDemand(approver, reader)) return action;
  return { ...action, decisions: decisions.filter((word) => word !== 'approve' && word !== 'edit') };
}

/**
 * Returns the text of a question about a budget. A reply to the question can spend money, so the reply is a decision.
 * The text says if the reader lacks the role for it.
 */
export function budgetQuestionForReader(question: string, reader: TaskReader | undefined): string {
  const role = missingRole(reader);
  return role === undefined ? question : `${question}\n\n${approvalNeededText({ role })}.`;
}

/** True if the reader's token has the role that every decision needs. */
export function hasDecidingRole({ roles }: Pick<TaskReader, 'roles'>): boolean {
  return roles.includes(DECIDING_ROLE);
}

/** If the reader's token lacks the role that every decision needs, returns that role and the roles of the token. */
function missingRole(reader: TaskReader | undefined): DemandedApprover['role'] {
  if (reader === undefined || hasDecidingRole(reader)) return undefined;
  const tenant = tenantOf(reader.principal);
  return { needed: DECIDING_ROLE, held: [...reader.roles], ...(tenant !== undefined && { tenant }) };
}
