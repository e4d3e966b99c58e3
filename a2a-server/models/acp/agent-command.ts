/** The command line of an ACP agent, and its short name. */
import { basename } from 'node:path';
import { oneLine } from '../../../shared/text/one-line.ts';

export interface AcpAgentCommand {
  command: string;
  args: readonly string[];
}

/** Programs that run another program. The agent is named after that program. */
const RUNNERS = new Set(['node', 'npx', 'bunx', 'bun', 'deno', 'uvx', 'python', 'python3', 'env']);

/** The command as one line for messages. */
export function commandText({ command, args }: AcpAgentCommand): string {
  return `\`${oneLine([command, ...args].join(' '), 120)}\``;
}

/** A short name for grants on the agent's tools: `gemini`, also for `/usr/bin/gemini` and `npx gemini@latest`. */
export function agentName({ command, args }: AcpAgentCommand): string {
  const program = nameOf(command);
  const run = RUNNERS.has(program) ? args.find((arg) => !arg.startsWith('-')) : undefined;
  return oneLine(run === undefined ? program : nameOf(run), 60);
}

function nameOf(path: string): string {
  return basename(path.replace(/(?<=[^@/])@[^/]*$/u, '')).replace(/\.(?:exe|cmd|[cm]?[jt]s)$/u, '');
}
