/**
 * `tools/call`. The SDK's own handler turns every error of a tool into a result. The protocol asks for a JSON-RPC error where
 * the state of a call is not valid, so the bridge answers the method itself; the SDK lists the tools.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { roundOf } from '../approvals/request-state.ts';
import type { Offer, Tool } from './tool.ts';

export function answerCalls(offer: Offer, tools: readonly Tool[]): void {
  const { server, prefix } = offer;
  const byName = new Map(tools.map((tool) => [`${prefix}${tool.name}`, tool]));
  server.server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    const tool = byName.get(name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found`);
    const words = { name, arguments: args };
    const round = roundOf(context.mcpReq, words);
    return tool.answer({ words, round, context }, offer);
  });
}
