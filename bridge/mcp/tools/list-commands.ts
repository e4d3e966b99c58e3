/** The MCP tool `list_available_agent_commands`: lists the commands that agents run without a model. */
import { z } from 'zod';
import { agentCommandUsage, offeredCommandSchema } from '../../../shared/protocol/agent-command.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { Agent } from '../../agents/agent.ts';
import { withTimeoutIfSeveral } from '../../agents/timeout.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';

const commandsOfAgents = z.object({
  agents: z.array(
    z.object({
      agent: z.string(),
      commands: z.array(offeredCommandSchema).describe('Empty for an agent that offers none.'),
      message: z.string().describe('Why its commands are not known, if they are not.'),
    }),
  ),
});
type AgentCommandsReport = z.infer<typeof commandsOfAgents>['agents'][number];

export const listCommandsTool = defineBridgeTool({
  name: 'list_available_agent_commands',
  title: 'List agent commands',
  description: `Lists the commands of each agent, with their arguments, for execute_agent_command.`,
  input: z.strictObject({ agent: fields.agentSchema.describe('Only of this agent.') }),
  output: commandsOfAgents,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  async run({ agent }, call) {
    const { registry } = call.bridge;
    const agents = agent === undefined ? registry.all : [registry.pick(agent)];
    const structured = {
      agents: await Promise.all(agents.map((each) => fetchCommandsReport(each, agents.length))),
    };
    return { structured, text: structured.agents.map(agentText).join('\n\n') };
  },
});

/**
 * Lists the commands of one agent. A silent agent must not delay the results about the others, so the time is limited.
 */
async function fetchCommandsReport(agent: Agent, asked: number): Promise<AgentCommandsReport> {
  try {
    const commands = await withTimeoutIfSeveral(
      asked,
      agent.ask((connection) => connection.commands()),
    );
    return { agent: agent.name, commands: [...(commands ?? [])], message: '' };
  } catch (error) {
    return { agent: agent.name, commands: [], message: agent.failed(error).message };
  }
}

function agentText({ agent, commands, message }: AgentCommandsReport): string {
  if (message !== '') return `The commands of agent "${agent}" are not known: ${message}`;
  if (commands.length === 0) return `Agent "${agent}" offers no commands.`;
  return [
    `Commands of agent "${agent}":`,
    ...commands.map((command) => `- ${visibleLine(`${agentCommandUsage(command)}: ${command.description}`)}`),
  ].join('\n');
}
