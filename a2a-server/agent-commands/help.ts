/** `help`: lists all commands with their usage. */
import type { AgentCommand } from './agent-command.ts';
import { usageOf } from './agent-commands.ts';

export function helpCommand(others: readonly AgentCommand[]): AgentCommand {
  const help: AgentCommand = {
    name: 'help',
    description: 'Lists the commands and how each is used.',
    arguments: [],
    begin: async () => ({
      type: 'answer',
      text: [...others, help].map((it) => `- ${usageOf(it)}: ${it.description}`).join('\n'),
    }),
  };
  return help;
}
