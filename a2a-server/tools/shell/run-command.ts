/**
 * Runs one shell command in a process group of its own and sees it to its end (A2, R43).
 *
 * - D6, R94: the shell waits at a pipe until its process group is recorded, and only then reads the command. If this
 *   process is killed before that, the pipe closes and the shell exits without having run anything.
 * - It resolves when no process of the group is left, or after SIGKILL: what the command leaves in the background ends
 *   with it.
 * - Output is taken as fast as it comes, and only its beginning and end are kept.
 * - stdin is closed: a command that asks something gets no answer instead of waiting for one.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { onAbort } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { ChildEntry } from '../../processes/child-processes.ts';
import { CappedText } from '../../../shared/text/capped-text.ts';
import { LiveOutput } from './live-output.ts';
import { boxed, type Box } from './confinement.ts';
import { endGroup, goneWithin, hasExited, type GroupEnd } from '../../processes/process-group.ts';

/** Characters of output kept for the result. */
const MAX_OUTPUT = 30_000;
/** How long output may be quiet before a pipe that a daemon holds open is let go. */
const QUIET_MS = 100;
/** How long the first process of a box may take to follow its shell, where the shell has left nothing behind. */
const TAKEN_DOWN_MS = 1_000;
/** How long a daemon that never falls quiet is listened to after the command has ended. */
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
  /** Where its process group is recorded before it runs. */
  child: ChildEntry;
  /** The box it runs in; without one it may do what the server's user may. */
  box?: { box: Box; root: string } | undefined;
}

export interface CommandEnd {
  /** The signal aborted before the shell had exited. */
  stopped: boolean;
  exitCode: number | null;
  /** What killed the shell, if something did. */
  exitSignal: NodeJS.Signals | null;
  /** Stdout and stderr as they came, the middle left out where it is long. */
  output: string;
  /** Something was left out of it. */
  cut: boolean;
  /** How what was left of the group ended, once the shell had exited or the signal aborted. */
  group: GroupEnd;
}

/** @throws the system's error when the shell cannot be started; ProductError STORAGE when it cannot be recorded. */
export async function runCommand(command: Command): Promise<CommandEnd> {
  const { signal, clock } = command;
  signal.throwIfAborted();
  const child = startShell(command);
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  // Without a process there is neither; the failure is that of `spawn`, below.
  exited.catch(() => undefined);
  closed.catch(() => undefined);
  const kept = new CappedText(MAX_OUTPUT);
  const live = new LiveOutput(command.output, clock);
  const take = (text: string): void => {
    const plain = stripVTControlCharacters(text);
    kept.push(plain);
    live.push(plain);
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
  openGate(child);
  const first = await firstOf(exited, signal, group);
  const left = first === 'aborted' || !(await isGone(group, command));
  const end = left ? await endGroup(group, command) : 'gone';
  await drained(closed, () => kept.length, clock);
  child.stdout?.destroy();
  child.stderr?.destroy();
  live.flush();
  // What could not be ended is left to the next server.
  if (end !== 'unconfirmed') command.child.forget();
  return {
    stopped: first === 'aborted',
    exitCode: child.exitCode,
    exitSignal: child.signalCode,
    output: kept.toString(),
    cut: kept.length > MAX_OUTPUT,
    group: end,
  };
}

/** Whether the shell has left nothing behind. A box is told to be taken down by the shell's end, and takes a moment for it. */
function isGone(group: number, { box, clock }: Command): Promise<boolean> {
  return goneWithin(group, box === undefined ? 0 : TAKEN_DOWN_MS, clock);
}

/** The shell reads one line from here before it runs the command; at the end of the file it exits instead. */
const GATE = 3;
const WAIT_AT_GATE = `read -r _ <&${GATE} || exit; exec ${GATE}<&-`;

function startShell(start: Command): ChildProcess {
  const { command, cwd, box } = start;
  const env = { ...start.env, ...start.child.env };
  if (process.platform === 'win32') {
    // `/d` leaves out AutoRun commands; the quotes of the command are the command's own.
    return spawn(env['ComSpec'] ?? 'cmd.exe', ['/d', '/s', '/c', `"${command}"`], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsVerbatimArguments: true,
      windowsHide: true,
    });
  }
  // One pipe for both streams keeps them in the order they were written in. The command stays an argument of its own.
  const shell = ['/bin/sh', '-c', `${WAIT_AT_GATE}; exec /bin/sh -c "$0" 2>&1`, command] as const;
  const [program, ...args] = box === undefined ? shell : boxed(box.box, { root: box.root, cwd }, shell);
  return spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
}

/** Lets the shell run its command. Windows has no gate. */
function openGate({ stdio }: ChildProcess): void {
  const gate: unknown = stdio[GATE];
  if (!(gate instanceof Writable)) return;
  // A shell that was killed meanwhile reads nothing.
  gate.on('error', () => undefined);
  gate.end('\n');
}

/**
 * Which comes first: the shell's exit, or the abort. What has exited was not stopped, whatever comes later (A3), even if
 * this process has yet to hear of the exit.
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
 * Resolves when all that was written has been read: at the end of the pipes or, if a daemon holds them, when they are
 * quiet. One that writes on is not the command's output any more.
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
      // A timer may fire before what has arrived meanwhile is read; the turn after it may not.
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
