/** The command line an ACP agent is started with, and what it is called. */
import { basename } from 'node:path';
import { oneLine } from '../../../shared/text/one-line.ts';

export interface AgentCommand {
  command: string;
  args: readonly string[];
}

/** Programs that run another one: the agent is what they run. */
const RUNNERS = new Set(['node', 'npx', 'bunx', 'bun', 'deno', 'uvx', 'python', 'python3', 'env']);

/** The command as messages name it, on one line. */
export function spelled({ command, args }: AgentCommand): string {
  return `\`${oneLine([command, ...args].join(' '), 120)}\``;
}

/** A short name, for whoever trusts the agent's tools: `gemini`, also of `/usr/bin/gemini` and of `npx gemini@latest`. */
export function agentName({ command, args }: AgentCommand): string {
  const program = nameOf(command);
  const run = RUNNERS.has(program) ? args.find((arg) => !arg.startsWith('-')) : undefined;
  return oneLine(run === undefined ? program : nameOf(run), 60);
}

function nameOf(path: string): string {
  return basename(path.replace(/(?<=[^@/])@[^/]*$/u, '')).replace(/\.(?:exe|cmd|[cm]?[jt]s)$/u, '');
}
