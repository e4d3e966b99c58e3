/** The command `abort`: stops one tool execution. The task continues. */
import { abortToolExecution } from '../../sessions/abort-tool-execution.ts';
import { openCommandSessions } from '../context/command-sessions.ts';
import { EXIT_REFUSED } from '../terminal/exit-codes.ts';
import type { CommonCommandOptions, CommandRun } from '../context/run-command.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';

interface AbortOptions extends CommonCommandOptions {
  agent?: string;
  reason?: string;
}

export async function abortCommand(run: CommandRun<AbortOptions>, toolId: string): Promise<number> {
  const { options, terminal } = run;
  const context = await openCommandSessions(run);
  const { success, message } = await abortToolExecution(context, {
    toolId,
    agent: options.agent,
    reason: options.reason ?? 'aborted on the command line',
  });
  await context.close();
  const words = inTerminalWords(message);
  if (options.json === true) terminal.say(JSON.stringify({ success, message: words }));
  else if (success) terminal.say(words);
  else terminal.complain(words);
  return success ? 0 : EXIT_REFUSED;
}
