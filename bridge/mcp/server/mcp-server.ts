/**
 * Creates the MCP server with its tools, resources, prompts, tasks and the method `tools/abort`. The first request that
 * needs the bridge's services opens them.
 */
import { McpServer, type RequestId } from '@modelcontextprotocol/server';
import { abortAnswerSchema } from '../../../shared/protocol/abort-answer.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { ApprovalMode } from '../../settings/approval-mode.ts';
import type { BridgeDraftProtocol } from '../../settings/draft-protocols.ts';
import type { CallSpans } from '../../telemetry/call-spans.ts';
import type { BridgeContext } from '../bridge-context.ts';
import type { SentReplies } from '../../sessions/replies-not-confirmed-by-client.ts';
import { serverInstructions } from './instructions.ts';
import { registerApprovalCard } from '../resources/register-approval-card.ts';
import { registerPrompts } from '../prompts/register-prompts.ts';
import { registerResources } from '../resources/register-resources.ts';
import type { ClientConnection } from '../../sessions/delegating-clients.ts';
import type { ClientFollowedTasks } from '../../sessions/client-followed-tasks.ts';
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
import type { SeenResults } from '../tool/seen-results.ts';
import type { BridgeTool } from '../tool/tool.ts';
import { waitForTaskTool } from '../tools/wait-for-task.ts';
import type { OnCancel } from '../../settings/on-cancel.ts';
import type { CancelledMcpCalls } from '../cancelled-calls/cancelled-calls.ts';
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

export interface McpServerOptions {
  version: string;
  prefix: string;
  log: Logger;
  onCancel: OnCancel;
  approvals: ApprovalMode;
  draftProtocols: readonly BridgeDraftProtocol[];
  /** The path of the built approval card. */
  cardFile: string;
  /** Records a span for each tool call. Undefined if traces are switched off. */
  spans: CallSpans | undefined;
  bridge: () => Promise<BridgeContext>;
}

export interface ServedMcpClient {
  connection: ClientConnection;
  withdrawals: CancelledMcpCalls;
  receipts: SentReplies;
  /** The MCP tasks that the client follows. Undefined if requests do not identify their client. */
  followed: ClientFollowedTasks | undefined;
  /**
   * What the client already has from earlier results, by session. Undefined if requests do not identify their client.
   */
  seen: SeenResults | undefined;
  /** True if a program, not a person, answers the client's forms. */
  unattended: boolean;
  /**
   * Called when a cancelled tool call has ended. A transport with one stream for each tool call then closes that
   * stream.
   */
  released?: (requestId: RequestId) => void;
}

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
  const offer = { server, ...parts, ...client };
  registerTools(offer, TOOLS);
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
