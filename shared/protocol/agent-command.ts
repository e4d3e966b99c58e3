/**
 * The A2A extension `urn:mcp-a2a-bridge:agent-command:v1`: commands that an agent runs without a model. A client sends
 * a message with one data part, `{ extension, command, args }`. This message starts a normal task, with approvals and a
 * result. `GET /api/commands` lists the commands.
 */
import { z } from 'zod';
import { AGENT_COMMAND_EXTENSION, RUN_TOOL_COMMAND } from './extensions.ts';

export { AGENT_COMMAND_EXTENSION, RUN_TOOL_COMMAND };

/**
 * The maximum length of one argument in characters. It is large, because the input of a tool may contain a whole file.
 */
const MAX_ARGUMENT_CHARACTERS = 1_000_000;

/** A command as the person typed it. If the name of the command has several words, some of them may be in `args`. */
export const commandCallSchema = z.strictObject({
  command: z.string().min(1).max(200),
  args: z.array(z.string().max(MAX_ARGUMENT_CHARACTERS)).max(50).default([]),
});
export type CommandCall = z.infer<typeof commandCallSchema>;

export const commandPartSchema = commandCallSchema.extend({ extension: z.literal(AGENT_COMMAND_EXTENSION) });

export const offeredCommandSchema = z.object({
  name: z.string(),
  description: z.string(),
  arguments: z.array(
    z.object({ name: z.string(), description: z.string().default(''), required: z.boolean().default(false) }),
  ),
});
export type OfferedCommand = z.infer<typeof offeredCommandSchema>;

export const commandListSchema = z.object({ commands: z.array(offeredCommandSchema) });

/** Returns the command as one line, e.g. `/checkpoint restore 4f2a91bc.3`. */
export function agentCommandText({ command, args }: CommandCall): string {
  return `/${[command.replace(/^\/+/, ''), ...args].join(' ')}`;
}

/** Returns the usage of a command, such as `checkpoint restore <id>`. Brackets mark optional arguments. */
export function agentCommandUsage({ name, arguments: args }: OfferedCommand): string {
  return [name, ...args.map((it) => (it.required ? `<${it.name}>` : `[${it.name}]`))].join(' ');
}
