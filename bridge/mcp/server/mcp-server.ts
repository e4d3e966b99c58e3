/**
 * Creates the MCP server with its tools, resources, prompts, tasks and the method `tools/abort`. The first request that
 * needs the bridge's services opens them.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { abortAnswerSchema } from '../../../shared/protocol/abort-answer.ts';
import { serverInstructions } from './instructions.ts';
import { registerApprovalCard } from '../resources/register-approval-card.ts';
import { registerPrompts } from '../prompts/register-prompts.ts';
import { registerResources } from '../resources/register-resources.ts';
import { registerTaskMethods } from '../tasks/task-methods.ts';
import { abortRequestParamsSchema, abortTool } from '../tools/abort-tool.ts';
import { abortToolExecution } from '../../sessions/abort-tool-execution.ts';
import { agentCapabilitiesTool } from '../tools/get-agent-capabilities.ts';
import { revokeTrustTool } from '../tools/revoke-trust.ts';
import { cancelTaskTool } from '../tools/cancel-task.ts';
import { checkTaskTool } from '../tools/check-task.ts';
import { consultTool } from '../tools/consult.ts';
import { decideTool } from '../tools/decide.ts';
import { decideOnApprovalCardTool } from '../tools/decide-on-approval-card.ts';
import { delegateTaskTool } from '../tools/delegate-task.ts';
import { executeCommandTool } from '../tools/execute-command.ts';
import { listCommandsTool } from '../tools/list-commands.ts';
import { runToolWithoutModelTool } from '../tools/run-tool-without-model.ts';
import { listSessionsTool } from '../tools/list-sessions.ts';
import { registerTools } from '../tools/register-tools.ts';
import { getApprovalCardStateTool } from '../tools/get-approval-card-state.ts';
import type { BridgeTool } from '../tool/tool.ts';
import type { McpServerOptions, ServedMcpClient } from '../tool/tool-serving-context.ts';
import { waitForTaskTool } from '../tools/wait-for-task.ts';
import { prefixToolNames } from '../../tool-names/tool-names.ts';

export const TOOLS: readonly BridgeTool[] = [
  delegateTaskTool,
  decideTool,
  waitForTaskTool,
  checkTaskTool,
  cancelTaskTool,
  abortTool,
  revokeTrustTool,
  listSessionsTool,
  consultTool,
  runToolWithoutModelTool,
  executeCommandTool,
  listCommandsTool,
  agentCapabilitiesTool,
  getApprovalCardStateTool,
  decideOnApprovalCardTool,
];

export function createMcpServer(parts: McpServerOptions, client: ServedMcpClient): McpServer {
  const { version, prefix, bridge } = parts;
  const server = new McpServer(
    { name: 'mcp-a2a-bridge', title: 'MCP-A2A bridge', version },
    {
      instructions: prefixToolNames(serverInstructions(parts.approvals), prefix),
      requestState: {
        verify: async (state, context) => (await bridge()).requestStates.verify(state, context),
      },
    },
  );
  registerTools({ server, ...parts, ...client }, TOOLS);
  registerResources(server, parts);
  registerApprovalCard(server, parts);
  registerPrompts(server, parts);
  registerTaskMethods(server, { ...parts, followed: client.followed });
  server.server.setRequestHandler(
    'tools/abort',
    { params: abortRequestParamsSchema, result: abortAnswerSchema },
    async (params) => abortToolExecution(await bridge(), params),
  );
  return server;
}
