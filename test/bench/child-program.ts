/** Starts the measured programs, and the programs for comparison, each in its own process. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface ChildProgram {
  pid: number;
  /** The first line of the program's stdout. */
  said: string;
  /** The time from the call of `startProgram` to the first line, in milliseconds. */
  startedInMs: number;
  /** @param signal by default SIGTERM */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface Start {
  script: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** Runs a script with the current Node and waits for its first line. @throws Error if the program ends before that line */
export async function startProgram({ script, args = [], env = {} }: Start): Promise<ChildProgram> {
  const began = performance.now();
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'exit');
  const said = await firstLine(child, ended);
  const startedInMs = performance.now() - began;
  if (child.pid === undefined) throw new Error(`${script} has no process`);
  const stop = async (signal?: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  return { pid: child.pid, said, startedInMs, stop };
}

/** `USER_HZ` of Linux: the unit of CPU time in `/proc`, in milliseconds. */
const TICK_MS = 10;

/** Returns the CPU time of a process so far. Linux only; other systems have no `/proc`. */
export async function cpuMs(pid: number): Promise<number> {
  if (process.platform !== 'linux') return Number.NaN;
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The path of a program in `programs/`. */
export function ownProgram(
  name: 'bare-stream' | 'echo' | 'empty' | 'hello' | 'paced-model' | 'relay' | 'signal-time',
): string {
  return fileURLToPath(new URL(`./programs/${name}.mjs`, import.meta.url));
}

async function firstLine(child: ChildProcess, ended: Promise<unknown>): Promise<string> {
  if (child.stdout === null) throw new Error('the program has no stdout');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line'), ended]);
  if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${String(child.exitCode)}`);
  return String(line);
}
