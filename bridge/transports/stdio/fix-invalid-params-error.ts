/**
 * Corrects an error code of the SDK. For invalid parameters, the SDK reports an internal error, with the problems as
 * JSON. Pure.
 */
import { INTERNAL_ERROR, INVALID_PARAMS, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { parseJson } from '../../../shared/text/parse-json.ts';

const issues = z
  .array(z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
  .min(1);

/**
 * Replaces the SDK's "internal error" about invalid parameters with "invalid params" (JSON-RPC 2.0 §5.1). The new error
 * names the path and the reason of each problem. Any other message is returned unchanged.
 */
export function fixInvalidParamsError(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || message.error.code !== INTERNAL_ERROR) return message;
  const wrong = issuesOf(message.error.message);
  if (wrong === undefined) return message;
  const told = wrong.slice(0, 5).map(({ path, message: why }) => `${path.join('.')}: ${why}`);
  return {
    ...message,
    error: { code: INVALID_PARAMS, message: `Invalid params: ${told.join('; ')}` },
  };
}

function issuesOf(text: string): z.infer<typeof issues> | undefined {
  if (!text.startsWith('[')) return undefined;
  return issues.safeParse(parseJson(text)).data;
}
