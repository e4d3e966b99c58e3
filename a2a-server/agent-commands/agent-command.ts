/** Defines an agent command: its name, arguments and effect. */
import type { OfferedCommand } from '../../shared/protocol/agent-command.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';

/** Data that a command may read. A command itself changes nothing: it requests a tool call, which needs approval. */
export interface CommandContext {
  workspace: Workspace;
  /** The owner of the command's task. */
  principal: string;
  signal: AbortSignal;
}

/** The first step of a command that runs without a model: an answer, or a tool call whose outcome is the answer. */
export type FirstStep =
  | { type: 'answer'; text: string }
  | { type: 'call'; text: string; tool: string; input: Record<string, unknown> };

export type AgentCommand = OfferedCommand & {
  /** Other names of the command. They are not listed. */
  aliases?: readonly string[];
} & (
    | {
        /** Checks the arguments before the server creates a task. @throws ProductError for invalid arguments */
        check?(args: readonly string[]): void;
        /** @param args the arguments; their number is correct. @throws ProductError. Its message ends the task. */
        begin(args: readonly string[], context: CommandContext): Promise<FirstStep>;
      }
    | {
        /** The text that the model gets instead of the command. */
        prompt: string;
      }
  );
