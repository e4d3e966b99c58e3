/** The tools and commands an agent has. */
import { agentCommands, type AgentCommands } from '../agent-commands/agent-commands.ts';
import { builtinCommands } from '../agent-commands/builtin-commands.ts';
import { checkpoints } from '../checkpoints/checkpoints.ts';
import { createRestoreCheckpoint } from '../checkpoints/restore-checkpoint.ts';
import { TaskLog } from '../executor/task-log.ts';
import type { Journal } from '../journal/journal.ts';
import type { Tool } from '../tools/tool.ts';

export interface Capabilities {
  /** The given tools, and the tools that commands call. */
  tools: readonly Tool[];
  commands: AgentCommands;
}

/** @param tools the tools of the agent */
export function createCapabilities({
  journal,
  tools,
}: {
  journal: Journal;
  tools: readonly Tool[];
}): Capabilities {
  const kept = checkpoints({ journal, log: new TaskLog(journal) });
  const all = [...tools, createRestoreCheckpoint(kept)];
  return { tools: all, commands: agentCommands(builtinCommands(kept, all)) };
}
