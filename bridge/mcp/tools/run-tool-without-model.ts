/** The MCP tool `run_agent_tool`: calls one tool of an agent without a model. The task consists of this one call. */
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { RUN_TOOL_COMMAND, type CommandCall } from '../../../shared/protocol/agent-command.ts';
import { fetchAgentCommands } from '../../agents/agent-commands.ts';
import type { Agent } from '../../agents/agent.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import { sessionResultSchema } from '../reports/session-result.ts';
import { continueAfterFormRound } from './await-session.ts';
import { awaitStartedTask } from './start-or-join-task.ts';
import { startAgentCommand } from './start-agent-command.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';

export const runToolWithoutModelTool = defineBridgeTool({
  name: 'run_agent_tool',
  title: 'Run a tool',
  description: `Calls one tool of an agent, e.g. "crawl", as a task without a model. Side effects wait for approval as always. With waitSeconds 0 it returns as soon as the tool runs; metadata.toolId is its id for abort_tool_execution.`,
  input: z.strictObject({
    tool: z.string().min(1).max(200).describe('Its name.'),
    input: z.record(z.string(), z.unknown()).optional().describe('Its input.'),
    agent: fields.agentSchema,
    workspace: fields.workspaceSchema.optional(),
    waitSeconds: fields.waitSecondsSchema,
  }),
  output: sessionResultSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  async run({ tool, input = {}, agent: agentName, workspace, waitSeconds }, call) {
    if (call.client.round !== undefined) return continueAfterFormRound(call, call.client.round, waitSeconds);
    const agent = call.bridge.registry.pick(agentName);
    await refuseUnlessOffered(agent);
    const command: CommandCall = { command: RUN_TOOL_COMMAND, args: [tool, JSON.stringify(input)] };
    const begun = await startAgentCommand(call, { agent, command, workspace });
    return 'interim' in begun ? begun : awaitStartedTask(call, begun, { waitSeconds, atLeast: hasStarted });
  },
});

/** Returns true if a tool execution has started. Before that, there is no `toolId`. */
function hasStarted({ calls }: TaskView): boolean {
  return calls.some(({ toolId }) => toolId !== null);
}

/** Throws if the agent does not run single tools. @throws ProductError UNKNOWN_COMMAND */
async function refuseUnlessOffered(agent: Agent): Promise<void> {
  const offered = await fetchAgentCommands(agent);
  if (offered.some(({ name }) => name === RUN_TOOL_COMMAND)) return;
  throw new ProductError(
    'UNKNOWN_COMMAND',
    `Agent "${agent.name}" does not run single tools. Delegate the work as a task.`,
    { facts: { agent: agent.name } },
  );
}
