import { agentCommandUsage, RUN_TOOL_COMMAND } from '../../shared/protocol/agent-command.ts';
import type { CheckpointFinder } from '../checkpoints/find-checkpoints.ts';
import type { AgentCommand } from './agent-command.ts';
import { checkpointCommands } from './checkpoint-commands.ts';
import type { Tool } from '../tools/tool.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { isRecord } from '../../shared/runtime/record.ts';
import { parseJson } from '../../shared/text/parse-json.ts';
import { parseInput } from '../tools/toolbox.ts';

const init: AgentCommand = {
  name: 'init',
  description: 'Asks the model to propose a short AGENTS.md for the workspace. Writing it needs approval.',
  arguments: [],
  prompt: `Write a short AGENTS.md for this workspace, for coding agents that start to work here.

First read the README, the package or build files, and the directories. Run nothing.
Write only what you found: the purpose of the project, the commands that build, test and lint it, the layout of the directories, and conventions that the files state.
If an AGENTS.md exists, edit it and keep what is still true.`,
};

/** @param tools the agent's own tools. MCP servers may offer more. */
export function builtinCommands(checkpoints: CheckpointFinder, tools: readonly Tool[]): AgentCommand[] {
  const commands = [init, ...checkpointCommands(checkpoints), createRunToolCommand(tools)];
  return [...commands, helpCommand(commands)];
}

function helpCommand(others: readonly AgentCommand[]): AgentCommand {
  const help: AgentCommand = {
    name: 'help',
    description: 'Lists the commands and their usage.',
    arguments: [],
    begin: async () => ({
      type: 'answer',
      text: [...others, help].map((it) => `- ${agentCommandUsage(it)}: ${it.description}`).join('\n'),
    }),
  };
  return help;
}

/**
 * The command `tool <name> <json>` calls one tool without a model. The same policy, approvals, limits and aborts apply
 * as to a model's call.
 * @param tools the agent's own tools. The executor finds tools of MCP servers later, after these servers have started.
 */
function createRunToolCommand(tools: readonly Tool[]): AgentCommand {
  const own = new Map(tools.map((tool) => [tool.name, tool]));
  const planned = ([name = '', json = '{}']: readonly string[]): { tool: string; input: JsonObject } => {
    const input = jsonObject(json);
    const tool = own.get(name);
    if (tool === undefined) return { tool: name, input };
    if (!isCallable(tool))
      throw new ProductError(
        'MALFORMED',
        `The command ${RUN_TOOL_COMMAND} cannot call the tool ${name}. Use the command that belongs to this tool.`,
      );
    const parsed = parseInput(tool, input);
    if (!parsed.ok) throw new ProductError('MALFORMED', parsed.message);
    return { tool: name, input };
  };
  return {
    name: RUN_TOOL_COMMAND,
    description: 'Calls one tool with a JSON object as input, without a model. The policy applies.',
    arguments: [
      { name: 'name', description: 'The name of the tool.', required: true },
      { name: 'input', description: 'The input as a JSON object. Default: {}.', required: false },
    ],
    check: (args) => void planned(args),
    begin: async (args) => ({ type: 'call', text: '', ...planned(args) }),
  };
}

type JsonObject = Record<string, unknown>;

/**
 * Returns true if a person may call the tool with this command. Only an ACP agent or a specific command can call the
 * other tools.
 */
function isCallable({ commandOnly, source }: Tool): boolean {
  return commandOnly !== true && source.type !== 'acp-agent';
}

function jsonObject(text: string): JsonObject {
  const value = parseJson(text);
  if (isRecord(value)) return value;
  throw new ProductError(
    'MALFORMED',
    `The input of a tool must be a JSON object, not: ${text.slice(0, 200)}`,
  );
}
