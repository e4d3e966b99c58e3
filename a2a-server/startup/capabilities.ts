/** What an agent can do beside what its model can: its tools, and the commands it carries out by itself. */
import { agentCommands, type AgentCommands } from '../agent-commands/agent-commands.ts';
import { builtinCommands } from '../agent-commands/builtin-commands.ts';
import { checkpoints } from '../checkpoints/checkpoints.ts';
import { createRestoreCheckpoint } from '../checkpoints/restore-checkpoint.ts';
import { TaskLog } from '../executor/task-log.ts';
import type { Journal } from '../journal/journal.ts';
import type { Tool } from '../tools/tool.ts';

export interface Capabilities {
  /** Those given, and those that commands ask for. */
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
  return {
    tools: [...tools, createRestoreCheckpoint(kept)],
    commands: agentCommands(builtinCommands(kept)),
  };
}
