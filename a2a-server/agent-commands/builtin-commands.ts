import { agentCommandUsage } from '../../shared/protocol/agent-command.ts';
import type { CheckpointFinder } from '../checkpoints/find-checkpoints.ts';
import type { AgentCommand } from './agent-command.ts';
import { checkpointCommands } from './checkpoint-commands.ts';
import type { Tool } from '../tools/tool.ts';
import { createRunToolCommand } from './run-tool-command.ts';

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
