/** Reads a message, and checks the roles that it needs. A decision and a message for the agent need different roles. */
import type { SendMessageRequest } from '@a2a-js/sdk';
import { requireRole, type Role } from '../../access/role.ts';
import { isDecisionOrRevocation, type ClientMessage } from '../../executor/messages/client-message.ts';
import { mayRunSomeUnasked } from '../../policy/task-mode.ts';
import { parseClientMessage } from '../wire/parse-client-message.ts';
import type { A2aRequestContext } from './a2a-request-context.ts';

/**
 * Returns the message of a request, limited to what the roles of its caller allow.
 * @throws ProductError FORBIDDEN, MALFORMED, UNSUPPORTED_CONTENT or INVALID_DECISION
 */
export function toPermittedMessage(request: SendMessageRequest, context: A2aRequestContext): ClientMessage {
  const { requester, roles, trace } = context.caller;
  const { match } = context.generations;
  const sent = parseClientMessage(request, {
    requester,
    speaksApproval: context.speaksApproval,
    expectedGeneration: match === undefined ? undefined : { generation: match, ...context.sight },
    trace,
  });
  // A message that registers an address for push notifications needs the same role as CreateTaskPushNotificationConfig.
  if (request.configuration?.taskPushNotificationConfig !== undefined) requireRole(roles, ['delegate']);
  return limitMessageToRoles(sent, roles);
}

/**
 * Returns the message, limited to what the roles allow. Without the role `approve`, the words `approve` and `deny` are
 * plain text. With `approve` and without `delegate`, the task service accepts a text only as a decision.
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
  // With these settings, some later tool calls need no approval. So the sender must be allowed to approve.
  if (mayRunSomeUnasked(incoming.settings)) requireRole(roles, ['approve']);
  return { ...incoming, wordsDecide: false, mayApprove: false };
}
