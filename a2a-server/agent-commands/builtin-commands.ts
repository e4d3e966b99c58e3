/** The commands every agent of this server has. */
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { AgentCommand } from './agent-command.ts';
import { checkpointCommands } from './checkpoint-commands.ts';
import { helpCommand } from './help.ts';
import { init } from './init.ts';

export function builtinCommands(checkpoints: Checkpoints): AgentCommand[] {
  const commands = [init, ...checkpointCommands(checkpoints)];
  return [...commands, helpCommand(commands)];
}
