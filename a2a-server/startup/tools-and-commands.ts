/** The tools and commands an agent has. */
import { agentCommands, type AgentCommands } from '../agent-commands/agent-commands.ts';
import { builtinCommands } from '../agent-commands/builtin-commands.ts';
import { checkpoints } from '../checkpoints/checkpoints.ts';
import { createRestoreCheckpoint } from '../checkpoints/restore-checkpoint.ts';
import { TaskLog } from '../executor/task-log.ts';
import type { Journal } from '../journal/journal.ts';
import type { Tool } from '../tools/tool.ts';

export interface ToolsAndCommands {
  /** The given tools, and the tools that commands call. */
  tools: readonly Tool[];
  commands: AgentCommands;
}

/** @param tools the tools of the agent */
export function createToolsAndCommands({
  journal,
  tools,
}: {
  journal: Journal;
  tools: readonly Tool[];
}): ToolsAndCommands {
  const kept = checkpoints({ journal, log: new TaskLog(journal) });
  const all = [...tools, createRestoreCheckpoint(kept)];
  return { tools: all, commands: agentCommands(builtinCommands(kept, all)) };
}
