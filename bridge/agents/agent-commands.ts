import { ProductError } from '../../shared/runtime/errors.ts';
import type { OfferedCommand } from '../../shared/protocol/agent-command.ts';
import type { Agent } from './agent.ts';

/**
 * Returns the commands that an agent offers.
 * @throws ProductError UNKNOWN_COMMAND if the agent has no commands; any error of the request
 */
export async function fetchAgentCommands(agent: Agent): Promise<readonly OfferedCommand[]> {
  const commands = await agent.ask((connection) => connection.commands());
  if (commands !== null && commands.length > 0) return commands;
  throw new ProductError(
    'UNKNOWN_COMMAND',
    `Agent "${agent.name}" offers no commands. Delegate the work as a task.`,
    { facts: { agent: agent.name } },
  );
}
