/** Runs programs of the release. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface Place {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

/** @returns what the command prints to stdout. @throws Error with everything that it printed, if it fails */
export async function outputOf(command: string, args: readonly string[], place: Place = {}): Promise<string> {
  const child = spawn(command, args, { ...place, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, problems, code] = await Promise.all([text(child.stdout), text(child.stderr), exitCode(child)]);
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}:\n${out}${problems}`);
  return out;
}

/** Runs the command on this terminal. @throws Error if it fails */
export async function runVisibly(command: string, args: readonly string[], place: Place = {}): Promise<void> {
  const code = await exitCode(spawn(command, args, { ...place, stdio: ['ignore', 'inherit', 'inherit'] }));
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}.`);
}

function exitCode(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((settle, reject) => child.once('exit', settle).once('error', reject));
}
