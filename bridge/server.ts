/** The MCP server: the tools, the method `tools/abort`, and nothing that has to be waited for. */
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Logger } from '../shared/logging.ts';
import type { Bridge } from './bridge.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { abort, abortAnswer, abortTool, toolId } from './tools/abort-tool.ts';
import { agentCapabilities } from './tools/agent-capabilities.ts';
import { cancelTask } from './tools/cancel-task.ts';
import { checkTask } from './tools/check-task.ts';
import { consult } from './tools/consult.ts';
import { decide } from './tools/decide.ts';
import { delegateTask } from './tools/delegate-task.ts';
import { reason } from './tools/fields.ts';
import { listSessions } from './tools/list-sessions.ts';
import { prefixed, type Tool } from './tools/tool.ts';
import { waitForTask } from './tools/wait-for-task.ts';

export const TOOLS: readonly Tool[] = [
  delegateTask,
  decide,
  waitForTask,
  checkTask,
  cancelTask,
  abortTool,
  listSessions,
  consult,
  agentCapabilities,
];

export interface ServerParts {
  version: string;
  prefix: string;
  log: Logger;
  bridge: () => Promise<Bridge>;
}

export function createServer({ version, prefix, log, bridge }: ServerParts): McpServer {
  const server = new McpServer(
    { name: 'mcp-a2a-bridge', title: 'MCP-A2A bridge', version },
    { instructions: prefixed(INSTRUCTIONS, prefix) },
  );
  for (const tool of TOOLS) tool.offer({ server, prefix, log, bridge });
  server.server.setRequestHandler(
    'tools/abort',
    { params: z.looseObject({ toolId, reason }), result: abortAnswer },
    async (params) => abort(await bridge(), params.toolId, params.reason),
  );
  return server;
}
