/** The commands of an agent, as every surface of the bridge asks for them. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { OfferedCommand } from '../../shared/protocol/agent-command.ts';
import type { Agent } from './agent.ts';

/** @throws ProductError UNKNOWN_COMMAND for an agent that offers none, and whatever asking it throws */
export async function commandsOf(agent: Agent): Promise<readonly OfferedCommand[]> {
  const commands = await agent.ask((connection) => connection.commands());
  if (commands !== null && commands.length > 0) return commands;
  throw new ProductError(
    'UNKNOWN_COMMAND',
    `Agent "${agent.name}" offers no commands. Delegate what is to be done in words.`,
    { facts: { agent: agent.name } },
  );
}

/** `checkpoint restore <id>`; what may be left out is in brackets. */
export function commandUsage({ name, arguments: args }: OfferedCommand): string {
  return [name, ...args.map((it) => (it.required ? `<${it.name}>` : `[${it.name}]`))].join(' ');
}
