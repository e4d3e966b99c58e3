/** Parses a request for status notifications of tasks. Pure. */
import { ProtocolErrorCode, type JSONRPCErrorResponse, type RequestId } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { TASKS_EXTENSION } from '../../approvals/tool-call-client.ts';

const subscription = z.looseObject({
  id: z.union([z.string(), z.number()]),
  method: z.literal('subscriptions/listen'),
  params: z.looseObject({
    notifications: z.looseObject({ taskIds: z.array(z.string()).min(1) }),
    _meta: z.unknown(),
  }),
});
export type TaskSubscription = z.infer<typeof subscription>;

const declaration = z.looseObject({
  'io.modelcontextprotocol/clientCapabilities': z.looseObject({
    extensions: z.looseObject({ [TASKS_EXTENSION]: z.looseObject({}) }),
    elicitation: z.looseObject({ url: z.unknown().optional() }).optional().catch(undefined),
  }),
});

/** Returns the subscription that a message requests. Returns undefined for any other message. */
export function parseTaskSubscription(message: unknown): TaskSubscription | undefined {
  return subscription.safeParse(message).data;
}

/** Returns the capabilities of the client. Undefined if it does not declare the tasks extension. */
export function declaredTasks(params: TaskSubscription['params']) {
  return declaration.safeParse(params['_meta']).data;
}

/**
 * Returns the error for a client without the tasks extension. "If a client requests task status notifications but does
 * not declare the … extension capability, the server MUST return a JSON-RPC error specifying the missing capabilities".
 */
export function missingTasksError(id: RequestId): JSONRPCErrorResponse {
  const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
  const error = {
    code: ProtocolErrorCode.MissingRequiredClientCapability,
    message: 'Missing required client capability',
    data,
  };
  return { jsonrpc: '2.0', id, error };
}
