/**
 * Runs one shell command in its own process group until the whole group has ended (A2, R43).
 *
 * - D6, R94: the shell waits on a socket until the server has recorded its process group. Then it runs the command. If
 *   this process is killed earlier, the socket closes, and the shell exits without running the command.
 * - E2: if the shell never waited on the socket, it has not run the command. So the server may create the sandbox
 *   again.
 * - `runCommand` resolves when no process of the group is left, or after SIGKILL. Background processes of the command
 *   end with it.
 * - `runCommand` reads all output without delay. It keeps only the start and the end of the output.
 * - stdin is closed. So a command that reads input gets an end of file and does not wait.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { onAbort } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { ChildEntry } from '../../processes/child-processes.ts';
import { CappedText } from '../../../shared/text/capped-text.ts';
import { oneLine } from '../../../shared/text/one-line.ts';
import { LiveOutput } from './live-output.ts';
import { sandboxCommand, socketsToHide, type SandboxOptions } from './confinement.ts';
import {
  endGroup,
  endGroups,
  hasEndedWithin,
  hasExited,
  type GroupEnd,
} from '../../processes/end-process-group.ts';

/** Maximum characters of output in the result. */
const MAX_OUTPUT = 30_000;
/** The time without output after which the server closes a pipe that a daemon holds open, in milliseconds. */
const QUIET_MS = 100;
/** The time for the sandbox's first process to exit after its shell, in milliseconds. */
const TAKEN_DOWN_MS = 1_000;
/** Maximum milliseconds to read a daemon's output after the command has ended. */
const DRAIN_MS = 1_000;

export interface Command {
  command: string;
  cwd: string;
  env: Record<string, string>;
  signal: AbortSignal;
  /** Live output. */
  output: (text: string) => void;
  clock: Clock;
  graceMs: number;
  /** Records the process group before the command runs. */
  child: ChildEntry;
  /** The sandbox for the command. Without it the command has the rights of the server's user. */
  box?: { box: SandboxOptions; root: string } | undefined;
}

export interface CommandEnd {
  /** True if the signal aborted before the shell exited. */
  stopped: boolean;
  exitCode: number | null;
  /** The signal that killed the shell. Null if the shell exited by itself. */
  exitSignal: NodeJS.Signals | null;
  /** Stdout and stderr in their order. Long output has only its start and its end. */
  output: string;
  /** True if the output lacks a part. */
  cut: boolean;
  /** The end of the other processes of the group after the shell's exit or the abort. */
  group: GroupEnd;
}

/** Maximum attempts to create the sandbox before the command runs. A service may end during an attempt. */
const SANDBOX_ATTEMPTS = 3;

/**
 * @throws the system's error if the shell cannot start; ProductError STORAGE if its record fails; an error with
 * bubblewrap's message if the sandbox fails. In these cases the command has not run.
 */
export async function runCommand(command: Command): Promise<CommandEnd> {
  for (let attempt = 1; ; attempt += 1) {
    const end = await runOnce(command);
    if (end.type === 'ended') return end.command;
    // Remove the record before the next attempt, because an abort may prevent that attempt. The process of this attempt
    // has ended.
    command.child.forget();
    if (attempt < SANDBOX_ATTEMPTS) continue;
    throw new Error(
      `The command did not run: its sandbox could not start (${end.words}). Run it again. If that fails too, ask the operator to check the setting "confineShell".`,
    );
  }
}

type OneRun =
  | { type: 'ended'; command: CommandEnd }
  /** The sandbox ended before its shell. */
  | { type: 'no-sandbox'; words: string };

async function runOnce(command: Command): Promise<OneRun> {
  const { signal, clock } = command;
  signal.throwIfAborted();
  const child = await startShell(command);
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  // If the process does not start, `spawn` below reports the failure.
  exited.catch(() => undefined);
  closed.catch(() => undefined);
  const kept = new CappedText(MAX_OUTPUT);
  const live = new LiveOutput(command.output, clock);
  let open = false;
  const take = (text: string): void => {
    const plain = stripVTControlCharacters(text);
    kept.push(plain);
    if (open) live.push(plain);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', take);
  await once(child, 'spawn');
  const group = child.pid;
  if (group === undefined) throw new Error('the shell was started without a process id');
  try {
    await command.child.record(group);
  } catch (error) {
    await endGroup(group, command);
    throw error;
  }
  const atGate = await reachedGate(child, exited, signal);
  open = true;
  if (atGate) openGate(child);
  const first = await firstOf(exited, signal, group);
  const left = first === 'aborted' || !(await isGone(group, command));
  const end = left ? await endAll(group, first === 'aborted', command) : 'gone';
  await drained(closed, () => kept.length, clock);
  child.stdout?.destroy();
  child.stderr?.destroy();
  live.flush();
  if (!atGate && first === 'exited' && end !== 'unconfirmed' && command.box !== undefined)
    return { type: 'no-sandbox', words: oneLine(kept.toString().trim(), 200) };
  // If the group may still run, keep its record for the next server.
  if (end !== 'unconfirmed') command.child.forget();
  return {
    type: 'ended',
    command: {
      stopped: first === 'aborted',
      exitCode: child.exitCode,
      exitSignal: child.signalCode,
      output: kept.toString(),
      cut: kept.length > MAX_OUTPUT,
      group: end,
    },
  };
}

/** Ends the group. After an abort, also ends programs that left the group, such as `timeout` and its child (R43). */
async function endAll(group: number, aborted: boolean, command: Command): Promise<GroupEnd> {
  const ending = endGroup(group, command);
  if (!aborted) return ending;
  const strays = (): readonly number[] => command.child.strays();
  const [end] = await Promise.all([ending, endGroups(strays, command)]);
  // A program may have left the group during its end.
  return (await endGroups(strays, command)) ? end : 'unconfirmed';
}

/** True if no process of the group is left. A sandbox needs a moment to exit after its shell. */
function isGone(group: number, { box, clock }: Command): Promise<boolean> {
  return hasEndedWithin(group, box === undefined ? 0 : TAKEN_DOWN_MS, clock);
}

/**
 * The shell's end of a socket pair. The shell writes a line when its sandbox is ready. Then it waits for a line before it
 * runs the command. At end of file it exits instead.
 */
const GATE = 3;
const WAIT_AT_GATE = `echo >&${GATE}; read -r _ <&${GATE} || exit; exec ${GATE}<&-`;

async function startShell(start: Command): Promise<ChildProcess> {
  const { command, cwd, box } = start;
  const env = { ...start.env, ...start.child.env };
  if (process.platform === 'win32') {
    // `/d` skips AutoRun commands. `/s` removes only the outer quotes, so the command's quotes stay.
    return spawn(env['ComSpec'] ?? 'cmd.exe', ['/d', '/s', '/c', `"${command}"`], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsVerbatimArguments: true,
      windowsHide: true,
    });
  }
  // One pipe for both streams keeps their order. The command stays a separate argument.
  const shell = ['/bin/sh', '-c', `${WAIT_AT_GATE}; exec /bin/sh -c "$0" 2>&1`, command] as const;
  const [program, ...args] =
    box === undefined
      ? shell
      : sandboxCommand(box.box, { root: box.root, cwd, sockets: await socketsToHide(box) }, shell);
  start.signal.throwIfAborted();
  return spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
}

/** The gate of this shell. Windows has none. */
function gateOf({ stdio }: ChildProcess): Duplex | undefined {
  const gate: unknown = stdio[GATE];
  return gate instanceof Duplex ? gate : undefined;
}

/** @returns true if the shell waits at its gate; false if it has exited or the signal is aborted. */
async function reachedGate(
  child: ChildProcess,
  exited: Promise<unknown>,
  signal: AbortSignal,
): Promise<boolean> {
  const gate = gateOf(child);
  if (gate === undefined) return true;
  // If the shell is killed meanwhile, the connection is reset.
  gate.on('error', () => undefined);
  let stopListening: (() => void) | undefined;
  const aborted = new Promise<false>((resolve) => {
    stopListening = onAbort(signal, () => resolve(false));
  });
  const ready = new Promise<true>((resolve) => void gate.once('data', () => resolve(true)));
  try {
    return await Promise.race([ready, exited.then(() => false), aborted]);
  } finally {
    stopListening?.();
  }
}

/** Tells the shell to run its command. */
function openGate(child: ChildProcess): void {
  gateOf(child)?.end('\n');
}

/**
 * Waits for the shell's exit or the abort. If the shell has already exited, the abort did not stop it (A3), even if
 * Node reports the exit later.
 */
async function firstOf(
  exited: Promise<unknown>,
  signal: AbortSignal,
  shell: number,
): Promise<'exited' | 'aborted'> {
  const exit = exited.then(() => 'exited' as const);
  let stopListening: (() => void) | undefined;
  const aborted = new Promise<'aborted' | Promise<'exited'>>((resolve) => {
    stopListening = onAbort(signal, () => resolve(hasExited(shell) ? exit : 'aborted'));
  });
  try {
    return await Promise.race([exit, aborted]);
  } finally {
    stopListening?.();
  }
}

/**
 * Resolves at the end of the pipes. If a daemon holds the pipes open, resolves after a time without output. Later
 * output does not belong to the command.
 */
async function drained(closed: Promise<unknown>, length: () => number, clock: Clock): Promise<void> {
  const end = closed.then(() => 'end' as const);
  let cancel: (() => void) | undefined;
  const enough = new Promise<'enough'>((resolve) => {
    cancel = clock.after(DRAIN_MS, () => resolve('enough'));
  });
  try {
    for (let before = -1; length() !== before;) {
      before = length();
      if ((await Promise.race([end, enough, quiet(clock)])) !== 'quiet') return;
      // A timer may fire before Node reads data that has arrived. The next event-loop turn reads the data.
      await nextTurn();
    }
  } finally {
    cancel?.();
  }
}

function quiet(clock: Clock): Promise<'quiet'> {
  return new Promise((resolve) => {
    clock.after(QUIET_MS, () => resolve('quiet'));
  });
}
