/** Checks the roles that a message needs. A decision and a message for the agent need different roles. */
import { requireRole, type Role } from '../../access/role.ts';
import { isDecisionOrRevocation, type Incoming } from '../../executor/task-service.ts';
import { mayRunSomeUnasked } from '../../policy/mode.ts';

/**
 * Returns the message as this caller may send it. If the caller may not approve, the words `approve` and `deny` are
 * plain text. If the caller may only approve, a text is accepted only as a decision; the task service judges that.
 * @throws ProductError FORBIDDEN
 */
export function permittedMessage(incoming: Incoming, roles: readonly Role[]): Incoming {
  if (isDecisionOrRevocation(incoming)) {
    requireRole(roles, ['approve']);
    return incoming;
  }
  if (incoming.wordsDecide && roles.includes('approve') && !roles.includes('delegate'))
    return { ...incoming, mayDelegate: false };
  requireRole(roles, ['delegate']);
  if (roles.includes('approve')) return incoming;
  // In such a mode, later calls need no approval. So the sender must be allowed to approve.
  if (mayRunSomeUnasked(incoming.settings)) requireRole(roles, ['approve']);
  return { ...incoming, wordsDecide: false, mayApprove: false };
}
