/** The command `abort`: stops one tool execution. The task continues. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { abortToolExecution } from '../../sessions/abort-tool-execution.ts';
import { openCommandSessions } from '../context/command-sessions.ts';
import { EXIT_REFUSED } from '../terminal/exit-codes.ts';
import type { CommonCommandOptions, CommandRun } from '../context/run-command.ts';
import { escapeHiddenInLines } from '../terminal/terminal.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';

interface AbortOptions extends CommonCommandOptions {
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
  const context = await openCommandSessions(run);
  const failures: ProductError[] = [];
  const { success, message } = await abortToolExecution(
    { ...context, onFailure: (error) => failures.push(error) },
    { toolId, agent: options.agent, reason: options.reason ?? 'aborted on the command line' },
  );
  await context.close();
  const [failure] = failures;
  // The tool may run on an agent that could not be asked.
  if (!success && failure !== undefined)
    throw new ProductError(failure.reason, message, { facts: failure.facts });
  const words = inTerminalWords(message);
  if (options.json === true) terminal.say(JSON.stringify({ success, message: words }));
  else if (success) terminal.explain(escapeHiddenInLines(words));
  else terminal.complain(words);
  return success ? 0 : EXIT_REFUSED;
}
