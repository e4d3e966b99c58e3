/** `abort`: stops one tool execution and lets its task go on. */
import { abort as abortTool } from '../../tools/abort-tool.ts';
import { openDesk } from '../desk.ts';
import { EXIT_REFUSED } from '../exit-codes.ts';
import type { CommonOptions, Run } from '../run.ts';
import { inTerminalWords } from '../terminal-words.ts';

export interface AbortOptions extends CommonOptions {
  agent?: string;
  reason?: string;
}

export async function abort(run: Run<AbortOptions>, toolId: string): Promise<number> {
  const { options, terminal } = run;
  const desk = await openDesk(run);
  const { success, message } = await abortTool(desk, {
    toolId,
    agent: options.agent,
    reason: options.reason,
  });
  await desk.close();
  const words = inTerminalWords(message);
  if (options.json === true) terminal.say(JSON.stringify({ success, message: words }));
  else if (success) terminal.say(words);
  else terminal.complain(words);
  return success ? 0 : EXIT_REFUSED;
}
