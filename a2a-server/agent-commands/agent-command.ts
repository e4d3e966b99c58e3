/** What a command of the agent is: a name, and what it begins with. */
import type { OfferedCommand } from '../../shared/protocol/agent-command.ts';
import type { Workspace } from '../tools/workspace.ts';

/** What a command may know while it looks. It changes nothing itself: that is a tool's, under approval. */
export interface CommandContext {
  workspace: Workspace;
  /** Whose task it works for. */
  principal: string;
  signal: AbortSignal;
}

/** What a command begins with: words that are its whole answer, or a tool call, whose outcome is then its answer. */
export type Beginning =
  | { type: 'answer'; text: string }
  | { type: 'call'; text: string; tool: string; input: Record<string, unknown> };

export interface AgentCommand extends OfferedCommand {
  /** Other names it goes by, which are not listed. */
  aliases?: readonly string[];
  /** @param args as many as it takes. @throws ProductError for what cannot be done; the sentence is the task's end. */
  begin(args: readonly string[], context: CommandContext): Promise<Beginning>;
}
