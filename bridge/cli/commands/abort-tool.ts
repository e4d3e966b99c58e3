/** The command `abort`: stops one tool execution. The task continues. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { abortToolExecution } from '../../sessions/abort-tool-execution.ts';
import { EXIT_REFUSED } from '../terminal/exit-codes.ts';
import type { CommandRun } from '../context/run-command.ts';
import { escapeHiddenInLines } from '../terminal/terminal.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';

interface AbortOptions {
  agent?: string;
  reason?: string;
}

/**
 * Stops the tool execution.
 * @returns EXIT_REFUSED if no running tool has this id
 * @throws ProductError UNKNOWN_AGENT; AGENT_UNREACHABLE if an agent that may run the tool cannot be asked
 */
export async function abortCommand(run: CommandRun<AbortOptions>, toolId: string): Promise<number> {
  const { options, terminal } = run;
  const context = await run.openSessions();
  const failures: ProductError[] = [];
  const { success, message } = await abortToolExecution(
    { ...context, onFailure: (error) => failures.push(error) },
    { toolId, agent: options.agent, reason: options.reason ?? 'aborted on the command line' },
  );
  const [failure] = failures;
  // The tool may run on an agent that could not be asked.
  if (!success && failure !== undefined)
    throw new ProductError(failure.reason, message, { facts: failure.facts });
  const words = inTerminalWords(message);
  terminal.json({ success, message: words });
  if (success) terminal.explain(escapeHiddenInLines(words));
  else terminal.complain(words);
  return success ? 0 : EXIT_REFUSED;
}
