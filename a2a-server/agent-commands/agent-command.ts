/** Defines an agent command: its name, arguments and effect. */
import type { OfferedCommand } from '../../shared/protocol/agent-command.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';

/** What a command may read. It changes nothing itself: it requests a tool call, which needs approval. */
export interface CommandContext {
  workspace: Workspace;
  /** The owner of the command's task. */
  principal: string;
  signal: AbortSignal;
}

/** The first step of a command without a model: its whole answer, or a tool call whose outcome is the answer. */
export type FirstStep =
  | { type: 'answer'; text: string }
  | { type: 'call'; text: string; tool: string; input: Record<string, unknown> };

export type AgentCommand = OfferedCommand & {
  /** Other names of the command. They are not listed. */
  aliases?: readonly string[];
} & (
    | {
        /** Checks the arguments before a task exists. @throws ProductError that refuses the command */
        check?(args: readonly string[]): void;
        /** @param args the arguments, already counted. @throws ProductError whose message ends the task. */
        begin(args: readonly string[], context: CommandContext): Promise<FirstStep>;
      }
    | {
        /** The message that the task's model gets in place of the command. */
        prompt: string;
      }
  );
