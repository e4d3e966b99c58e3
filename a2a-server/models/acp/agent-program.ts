import { basename } from 'node:path';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';

export interface AcpAgentCommand {
  command: string;
  args: readonly string[];
}

/** The programs that run another program. The agent is then named after that other program. */
const RUNNERS = new Set(['node', 'npx', 'bunx', 'bun', 'deno', 'uvx', 'python', 'python3', 'env']);

export function acpCommandText({ command, args }: AcpAgentCommand): string {
  return `\`${oneLineExcerpt([command, ...args].join(' '), 120)}\``;
}

/**
 * Returns the short name of an ACP agent, for texts and ids. For example, `npx gemini@latest` and `/usr/bin/gemini` are
 * both named `gemini`.
 */
export function acpAgentName({ command, args }: AcpAgentCommand): string {
  const program = nameOf(command);
  const run = RUNNERS.has(program) ? args.find((arg) => !arg.startsWith('-')) : undefined;
  return oneLineExcerpt(run === undefined ? program : nameOf(run), 60);
}

function nameOf(path: string): string {
  return basename(path.replace(/(?<=[^@/])@[^/]*$/u, '')).replace(/\.(?:exe|cmd|[cm]?[jt]s)$/u, '');
}
