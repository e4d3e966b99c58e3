/**
 * Handles `tools/list` and `tools/call` instead of the SDK. The SDK converts every error to a result, but MCP requires
 * a JSON-RPC error for an invalid `requestState`. The SDK also lists the same tools for every client, but the bridge
 * leaves out the tools that a client must not see.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { refuseCursor } from '../lists/refuse-cursor.ts';
import { findAnsweredRound } from '../../approvals/request-state.ts';
import type { BridgeTool } from '../tool/tool.ts';
import type { ToolServingContext } from '../tool/tool-serving-context.ts';

export function registerTools(offer: ToolServingContext, tools: readonly BridgeTool[]): void {
  const { server, prefix } = offer;
  const protocol = server.server;
  const byName = new Map(tools.map((tool) => [`${prefix}${tool.name}`, tool]));
  protocol.registerCapabilities({ tools: { listChanged: true } });
  protocol.setRequestHandler('tools/list', ({ params }, context) => {
    refuseCursor(params);
    return { tools: tools.flatMap((tool) => tool.listed(offer, context) ?? []) };
  });
  protocol.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    const tool = byName.get(name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found`);
    const words = { name, arguments: args };
    const round = findAnsweredRound(context.mcpReq, words);
    return tool.answer({ words, round, context }, offer);
  });
}
