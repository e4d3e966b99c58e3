/** The command line of an ACP agent, and its short name. */
import { basename } from 'node:path';
import { oneLine } from '../../../shared/text/one-line.ts';

export interface AcpAgentCommand {
  command: string;
  args: readonly string[];
}

/** Programs that run another program. The name of that program is the agent's name. */
const RUNNERS = new Set(['node', 'npx', 'bunx', 'bun', 'deno', 'uvx', 'python', 'python3', 'env']);

/** Formats the command as one line for messages. */
export function commandText({ command, args }: AcpAgentCommand): string {
  return `\`${oneLine([command, ...args].join(' '), 120)}\``;
}

/** Returns a short name for grants: `gemini` for `gemini`, `/usr/bin/gemini` and `npx gemini@latest`. */
export function agentName({ command, args }: AcpAgentCommand): string {
  const program = nameOf(command);
  const run = RUNNERS.has(program) ? args.find((arg) => !arg.startsWith('-')) : undefined;
  return oneLine(run === undefined ? program : nameOf(run), 60);
}

function nameOf(path: string): string {
  return basename(path.replace(/(?<=[^@/])@[^/]*$/u, '')).replace(/\.(?:exe|cmd|[cm]?[jt]s)$/u, '');
}
