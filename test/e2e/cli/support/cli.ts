/** Runs the built `mcp-a2a-bridge` as a person does, in a home directory of the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const PROGRAM = join(process.cwd(), 'dist', 'bridge', 'main.js');

export interface CliOptions {
  /** The home directory of the person. It contains the state directory, unless the command names another. */
  home: string;
  cwd?: string;
  /** The program to run; default the built one. */
  program?: string;
  env?: Readonly<Record<string, string>>;
  stdin?: string;
}

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one command to its end. */
export async function cli(args: readonly string[], options: CliOptions): Promise<Outcome> {
  const child = start(process.execPath, [options.program ?? PROGRAM, ...args], options);
  return outcomeOf(child, options.stdin);
}

interface AtTerminal {
  keys: string;
  prompt?: string;
  /** The width of the terminal in columns. */
  columns?: number;
  /** The program that reads the output of the command. */
  pager?: string;
  /**
   * Called when the command shows its prompt.
   * @param type types at the terminal; resolves when the terminal shows the keys
   */
  onPrompt?: (type: (keys: string) => Promise<void>) => Promise<void>;
}

/** Runs a command at a terminal (a pseudo-terminal of `script`). The person types `keys` when `prompt` appears. */
export async function cliAtTerminal(
  args: readonly string[],
  { keys, prompt = '[y/N]', onPrompt, columns, pager, ...options }: CliOptions & AtTerminal,
): Promise<Outcome> {
  const command = [process.execPath, PROGRAM, ...args].map((each) => `'${each}'`).join(' ');
  const line = pager === undefined ? command : `${command} | ${pager}`;
  const child = start(
    'script',
    ['-qefc', columns === undefined ? line : `stty cols ${columns}; ${line}`, '/dev/null'],
    options,
  );
  const type = (typed: string): Promise<void> =>
    new Promise((resolve) => {
      let shown = '';
      const look = (chunk: string): void => {
        shown += chunk;
        if (!shown.includes(typed.trimEnd())) return;
        child.stdout?.off('data', look);
        resolve();
      };
      child.stdout?.on('data', look);
      child.stdin?.write(typed);
    });
  // One read can end in the middle of the prompt. Thus the text after the last prompt stays.
  let unanswered = '';
  child.stdout?.on('data', (chunk: string) => {
    unanswered += chunk;
    const at = unanswered.lastIndexOf(prompt);
    if (at < 0) return;
    unanswered = unanswered.slice(at + prompt.length);
    child.stdin?.write(keys);
    void onPrompt?.(type);
  });
  return outcomeOf(child, undefined);
}

export interface Running {
  child: ChildProcess;
  /** Resolves with the next line that contains this text. @throws if the program ends first */
  line: (part: string) => Promise<string>;
  ended: Promise<Outcome>;
}

/** Starts a command that runs until the test ends it. */
export function cliRunning(args: readonly string[], options: CliOptions): Running {
  const child = start(process.execPath, [PROGRAM, ...args], options);
  const ended = outcomeOf(child, undefined);
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  let read = 0;
  return {
    child,
    ended,
    line: (part) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const at = lines.findIndex((line, index) => index >= read && line.includes(part));
          if (at < 0) return;
          read = at + 1;
          waiting.delete(look);
          resolve(lines[at] ?? '');
        };
        waiting.add(look);
        look();
        void ended.then(({ stdout, stderr }) =>
          reject(new Error(`it ended without "${part}":\n${stdout}\n${stderr}`)),
        );
      }),
  };
}

function start(
  command: string,
  args: readonly string[],
  { home, cwd = home, env }: CliOptions,
): ChildProcess {
  return spawn(command, args, {
    cwd,
    // The environment contains only the variables that every program needs.
    env: { PATH: process.env['PATH'], HOME: home, TERM: 'xterm', A2A_SERVER_PORT: '0', ...env },
    stdio: 'pipe',
  });
}

async function outcomeOf(child: ChildProcess, stdin: string | undefined): Promise<Outcome> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  if (stdin !== undefined) child.stdin?.end(stdin);
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}
