import { createAgentCommands, type AgentCommands } from '../agent-commands/agent-commands.ts';
import { builtinCommands } from '../agent-commands/builtin-commands.ts';
import { createCheckpointFinder, type CheckpointFinder } from '../checkpoints/find-checkpoints.ts';
import { createRestoreCheckpointTool } from '../checkpoints/restore-checkpoint-tool.ts';
import { TaskJournal } from '../executor/task-journal/task-journal.ts';
import type { Journal } from '../journal/journal.ts';
import type { Tool } from '../tools/tool.ts';

export interface ToolsAndCommands {
  /** The tools of the agent, and the tool `restore-checkpoint`, which only an agent command calls. */
  tools: readonly Tool[];
  commands: AgentCommands;
  checkpoints: CheckpointFinder;
}

export function createToolsAndCommands({
  journal,
  tools,
  onDamaged,
}: {
  journal: Journal;
  tools: readonly Tool[];
  /** Called once for each task that a list of checkpoints leaves out because its events are damaged. */
  onDamaged?: (taskId: string, error: unknown) => void;
}): ToolsAndCommands {
  const kept = createCheckpointFinder({ journal, taskJournal: new TaskJournal(journal, { onDamaged }) });
  const all = [...tools, createRestoreCheckpointTool(kept)];
  return { tools: all, commands: createAgentCommands(builtinCommands(kept, all)), checkpoints: kept };
}
