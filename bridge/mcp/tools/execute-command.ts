/**
 * The MCP tool `execute_agent_command`: runs a command of an agent. The command starts a task, or the agent answers
 * immediately.
 */
import { z } from 'zod';
import {
  commandCallSchema,
  agentCommandText,
  type CommandCall,
} from '../../../shared/protocol/agent-command.ts';
import { visibleText } from '../../../shared/text/visible-text.ts';
import type { Agent } from '../../agents/agent.ts';
import { fetchAgentCommands } from '../../agents/agent-commands.ts';
import { refuseIfHumanOnly } from '../reports/human-only-guidance.ts';
import { sessionResultSchema } from '../reports/session-result.ts';
import { continueAfterFormRound } from './await-session.ts';
import { awaitStartedTask } from './start-or-join-task.ts';
import { startAgentCommand } from './start-agent-command.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';
import type { ToolCallContext } from '../tool/tool.ts';
import type { ToolReply } from '../tool/tool-result.ts';

const commandReport = sessionResultSchema.extend({
  sessionId: sessionResultSchema.shape.sessionId
    .nullable()
    .describe('The handle of the session: pass it to the other tools. Null if the command started none.'),
});
type CommandReport = z.infer<typeof commandReport>;

export const executeCommandTool = defineBridgeTool({
  name: 'execute_agent_command',
  title: 'Execute an agent command',
  description: `Runs a command of an agent, e.g. "init", "checkpoint list", "checkpoint restore" with an id, "help". list_available_agent_commands lists them. A command is a task of its own, in the named session or a new one. Its changes wait for the person's approval.`,
  input: z.strictObject({
    command: commandCallSchema.shape.command.describe('Its name.'),
    args: z.array(z.string()).max(50).optional().describe('Its arguments, e.g. the id of a checkpoint.'),
    agent: fields.agentSchema,
    sessionId: fields.sessionIdSchema.optional(),
    workspace: fields.workspaceSchema.optional(),
    waitSeconds: fields.waitSecondsSchema,
  }),
  output: commandReport,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  async run({ command, args = [], agent: agentName, sessionId, workspace, waitSeconds }, call) {
    if (call.client.round !== undefined) return continueAfterFormRound(call, call.client.round, waitSeconds);
    const { registry, sessions } = call.bridge;
    const going = sessionId === undefined ? undefined : await sessions.find(sessionId, { agent: agentName });
    const agent = going?.agent ?? registry.pick(agentName);
    const asked: CommandCall = { command, args };
    await fetchAgentCommands(agent);
    const { dialect } = await agent.connect();
    if (dialect.name === 'gemini') return runCommandOutsideTasks(agent, asked, call);
    const begun = await startAgentCommand(call, { agent, command: asked, going, workspace });
    return 'interim' in begun ? begun : awaitStartedTask(call, begun, { waitSeconds });
  },
});

/** Runs a command on an agent that runs commands outside of tasks, without approval. */
async function runCommandOutsideTasks(
  agent: Agent,
  asked: CommandCall,
  call: ToolCallContext,
): Promise<ToolReply<CommandReport>> {
  refuseIfHumanOnly(call);
  const connection = await agent.connect();
  call.beforeSending();
  try {
    const answer = await connection.execute(asked);
    const state = answer?.failed === true ? 'failed' : 'completed';
    const output = answer?.text ?? '';
    const structured: CommandReport = {
      sessionId: null,
      agent: agent.name,
      taskId: null,
      state,
      message: '',
      output: visibleText(output),
      pending: [],
      question: null,
      calls: [],
      cost: null,
      notes: [],
      next: 'The agent has carried it out and keeps no task of it.',
    };
    return {
      structured,
      text: `${agent.name}, ${agentCommandText(asked)}: ${state}.\n\n${structured.output}`.trimEnd(),
    };
  } catch (error) {
    throw agent.failed(error);
  }
}
