/** Reads a message, and checks the roles that it needs. A decision and a message for the agent need different roles. */
import type { SendMessageRequest } from '@a2a-js/sdk';
import { requireRole, type Role } from '../../access/role.ts';
import { isDecisionOrRevocation, type ClientMessage } from '../../executor/messages/client-message.ts';
import { mayRunSomeUnasked } from '../../policy/task-mode.ts';
import { toClientMessage } from '../wire/client-message.ts';
import type { A2aRequestContext } from './a2a-request-context.ts';

/**
 * Returns the message of a request, as its caller may send it.
 * @throws ProductError FORBIDDEN, MALFORMED, UNSUPPORTED_CONTENT or INVALID_DECISION
 */
export function toPermittedMessage(request: SendMessageRequest, context: A2aRequestContext): ClientMessage {
  const { requester, roles, trace } = context.caller;
  const { match } = context.generations;
  const sent = toClientMessage(request, {
    requester,
    speaksApproval: context.speaksApproval,
    expectedGeneration: match === undefined ? undefined : { generation: match, ...context.sight },
    trace,
  });
  // The address of the message needs the same role as CreateTaskPushNotificationConfig.
  if (request.configuration?.taskPushNotificationConfig !== undefined) requireRole(roles, ['delegate']);
  return limitMessageToRoles(sent, roles);
}

/**
 * Returns the message as this caller may send it. If the caller is not allowed to approve, the words `approve` and
 * `deny` are plain text. If the caller may only approve, a text is accepted only as a decision. The task service checks
 * this.
 * @throws ProductError FORBIDDEN
 */
function limitMessageToRoles(incoming: ClientMessage, roles: readonly Role[]): ClientMessage {
  if (isDecisionOrRevocation(incoming)) {
    requireRole(roles, ['approve']);
    return incoming;
  }
  if (incoming.wordsDecide && roles.includes('approve') && !roles.includes('delegate'))
    return { ...incoming, mayDelegate: false };
  requireRole(roles, ['delegate']);
  if (roles.includes('approve')) return incoming;
  // In such a mode, later tool calls need no approval. So the sender must be allowed to approve.
  if (mayRunSomeUnasked(incoming.settings)) requireRole(roles, ['approve']);
  return { ...incoming, wordsDecide: false, mayApprove: false };
}
