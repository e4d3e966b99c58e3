/**
 * The A2A extension `urn:mcp-a2a-bridge:agent-command:v1`: what an agent does by itself when it is told to by name, without
 * a model. A message whose only part is the data part `{ extension, command, args }` starts a task like any other: its
 * steps ask for approval, its result is the task's. `GET /api/commands` lists the commands.
 */
import { z } from 'zod';
import { AGENT_COMMAND } from './extensions.ts';

export { AGENT_COMMAND };

/** A command as a person gave it. `command` may be of several words, and the rest of its words be in `args`. */
export const commandCall = z.strictObject({
  command: z.string().min(1).max(200),
  args: z.array(z.string().max(4096)).max(50).default([]),
});
export type CommandCall = z.infer<typeof commandCall>;

export const commandPart = commandCall.extend({ extension: z.literal(AGENT_COMMAND) });

export const offeredCommand = z.object({
  name: z.string(),
  description: z.string(),
  arguments: z.array(
    z.object({ name: z.string(), description: z.string().default(''), required: z.boolean().default(false) }),
  ),
});
export type OfferedCommand = z.infer<typeof offeredCommand>;

/** What `GET /api/commands` answers. */
export const commandList = z.object({ commands: z.array(offeredCommand) });

/** The command in one line, as it is shown: `/checkpoint restore 4f2a91bc.3`. */
export function commandLine({ command, args }: CommandCall): string {
  return `/${[command.replace(/^\/+/, ''), ...args].join(' ')}`;
}
