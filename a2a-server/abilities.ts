/** What an agent can do beside what its model can: its tools, and the commands it carries out by itself. */
import { join } from 'node:path';
import { agentCommands, type AgentCommands } from './agent-commands/agent-commands.ts';
import { builtinCommands } from './agent-commands/builtin-commands.ts';
import { checkpoints } from './checkpoints/checkpoints.ts';
import { contentStore, type ContentStore } from './checkpoints/content-store.ts';
import { createRestoreCheckpoint } from './checkpoints/restore-checkpoint.ts';
import { TaskLog } from './executor/task-log.ts';
import type { Journal } from './journal/journal.ts';
import type { Tool } from './tools/tool.ts';

export interface Abilities {
  /** Those given, and those that commands ask for. */
  tools: readonly Tool[];
  commands: AgentCommands;
  /** Where what tools change is kept before they change it. */
  contents: ContentStore;
}

/** @param from where the contents are kept, beside the journal that says whose they are; and the tools of the agent. */
export function abilities(from: { stateDir: string; journal: Journal; tools: readonly Tool[] }): Abilities {
  const { stateDir, journal, tools } = from;
  const contents = contentStore(join(stateDir, 'checkpoints'));
  const kept = checkpoints({ journal, log: new TaskLog(journal), contents });
  return {
    tools: [...tools, createRestoreCheckpoint(kept)],
    commands: agentCommands(builtinCommands(kept)),
    contents,
  };
}
