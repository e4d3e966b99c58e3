/** `abort`: stops one tool execution and lets its task go on. */
import { abort as abortTool } from '../../tools/abort-tool.ts';
import { openDesk } from '../desk.ts';
import { EXIT_REFUSED } from '../exit-codes.ts';
import type { CommonOptions, Run } from '../run.ts';

export interface AbortOptions extends CommonOptions {
  agent?: string;
  reason?: string;
}

export async function abort(run: Run<AbortOptions>, toolId: string): Promise<number> {
  const { options, terminal } = run;
  const desk = await openDesk(run);
  const answer = await abortTool(desk, { toolId, agent: options.agent, reason: options.reason });
  await desk.close();
  if (options.json === true) terminal.say(JSON.stringify(answer));
  else if (answer.success) terminal.say(answer.message);
  else terminal.complain(answer.message);
  return answer.success ? 0 : EXIT_REFUSED;
}
