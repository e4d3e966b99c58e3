import type { OfferedCommand } from '../../shared/protocol/agent-command.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';

/**
 * The data that a command may read. A command itself changes nothing. To change something, it requests a tool call,
 * which needs approval.
 */
interface AgentCommandContext {
  workspace: Workspace;
  principal: string;
  signal: AbortSignal;
}

/**
 * The first step of a command that runs without a model. It is an answer, or a tool call whose outcome is the answer.
 */
export type AgentCommandFirstStep =
  | { type: 'answer'; text: string }
  | { type: 'call'; text: string; tool: string; input: Record<string, unknown> };

export type AgentCommand = OfferedCommand & {
  aliases?: readonly string[];
} & (
    | {
        /** Checks the arguments before the server creates a task. @throws ProductError if an argument is invalid */
        check?(args: readonly string[]): void;
        /**
         * Starts the command. The caller has already checked the number of arguments.
         * @throws ProductError whose message ends the task
         */
        begin(args: readonly string[], context: AgentCommandContext): Promise<AgentCommandFirstStep>;
      }
    | {
        /** The text that the model gets instead of the command. */
        prompt: string;
      }
  );
