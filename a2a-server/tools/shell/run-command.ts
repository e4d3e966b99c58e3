/**
 * Runs one shell command in its own process group, and waits until the whole group has ended.
 *
 * - D6: the shell waits on a socket (the gate) until the server has recorded the process group. If the server dies
 *   first, the socket closes. Then the shell exits without running the command.
 * - E2: if the shell never waited at the gate, the command has not run. So the server may create the sandbox again.
 * - `runShellCommand` resolves when no process of the group is left, or after SIGKILL. Background processes of the
 *   command end too.
 * - `runShellCommand` reads all output without delay, but keeps only the start and the end.
 * - stdin is closed. So a command that reads input gets an end of file and does not wait.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { unlessAborted } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { ChildProcessTracker } from '../../processes/child-process-records.ts';
import { resultWithin } from '../../runtime/timeout.ts';
import { MiddleCutText } from '../../../shared/text/shortened-text.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { LiveCommandOutput } from './live-output.ts';
import { sandboxCommand, findSocketsToHide, type SandboxOptions } from './confinement.ts';
import {
  endProcessGroup,
  endFoundProcessGroups,
  hasGroupEndedWithin,
  hasExited,
  type GroupEndResult,
} from '../../processes/end-process-group.ts';

const MAX_OUTPUT_CHARACTERS = 30_000;
/** The time without output after which the server closes a pipe that a daemon holds open. */
const QUIET_MS = 100;
/** The sandbox's first process may take this long to exit after its shell. */
const TAKEN_DOWN_MS = 1_000;
/** The longest time to read a daemon's output after the command has ended. */
const DRAIN_MS = 1_000;

export interface ShellCommand {
  command: string;
  cwd: string;
  env: Record<string, string>;
  signal: AbortSignal;
  output: (text: string) => void;
  clock: Clock;
  graceMs: number;
  child: ChildProcessTracker;
  /** The sandbox for the command. Without a sandbox, the command has the rights of the server's user. */
  box?: { box: SandboxOptions; root: string } | undefined;
}

export interface CommandResult {
  /** True if the signal aborted before the shell exited. */
  stopped: boolean;
  exitCode: number | null;
  /** The signal that killed the shell. Null if the shell exited by itself. */
  exitSignal: NodeJS.Signals | null;
  /** stdout and stderr, in the order of writing. Long output has only its start and its end. */
  output: string;
  /** True if a part of the output is missing. */
  cut: boolean;
  /** The way in which the other processes of the group ended, after the shell's exit or the abort. */
  group: GroupEndResult;
}

/**
 * The maximum number of attempts to create the sandbox. An attempt fails if a service ends and removes its socket
 * meanwhile. The next attempt may then succeed.
 */
const SANDBOX_ATTEMPTS = 3;

/**
 * Runs the command to its end. If this function throws, the command has not run.
 * @throws the system's error if the shell cannot start
 * @throws ProductError STORAGE if the process group cannot be recorded
 * @throws Error with bubblewrap's message if the sandbox fails
 */
export async function runShellCommand(command: ShellCommand): Promise<CommandResult> {
  for (let attempt = 1; ; attempt += 1) {
    const end = await runOnce(command);
    if (end.type === 'ended') return end.command;
    // The process of this attempt has ended. Its record is deleted here, because an abort may prevent the next attempt.
    command.child.forget();
    if (attempt < SANDBOX_ATTEMPTS) continue;
    throw new Error(
      `The command did not run: its sandbox could not start (${end.words}). Run it again. If that fails too, ask the operator to check the setting "confineShell".`,
    );
  }
}

type OneRun =
  | { type: 'ended'; command: CommandResult }
  /** The sandbox ended before the shell started. */
  | { type: 'no-sandbox'; words: string };

async function runOnce(command: ShellCommand): Promise<OneRun> {
  const { signal, clock } = command;
  signal.throwIfAborted();
  const child = await startShell(command);
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  // If the process does not start, `once(child, 'spawn')` below reports the failure.
  exited.catch(() => undefined);
  closed.catch(() => undefined);
  const kept = new MiddleCutText(MAX_OUTPUT_CHARACTERS);
  const live = new LiveCommandOutput(command.output, clock);
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
  await command.child.record(group);
  const atGate = await reachedGate(child, exited, signal);
  open = true;
  if (atGate) openGate(child);
  const first = await firstOf(exited, signal, group);
  const left = first === 'aborted' || !(await isGone(group, command));
  const end = left ? await endAll(group, first === 'aborted', command) : 'gone';
  await waitForPipesToEnd(closed, () => kept.length, clock);
  child.stdout?.destroy();
  child.stderr?.destroy();
  live.flush();
  if (!atGate && first === 'exited' && end !== 'unconfirmed' && command.box !== undefined)
    return { type: 'no-sandbox', words: oneLineExcerpt(kept.toString().trim(), 200) };
  // If the group may still run, the next server needs the record.
  if (end !== 'unconfirmed') command.child.forget();
  return {
    type: 'ended',
    command: {
      stopped: first === 'aborted',
      exitCode: child.exitCode,
      exitSignal: child.signalCode,
      output: kept.toString(),
      cut: kept.length > MAX_OUTPUT_CHARACTERS,
      group: end,
    },
  };
}

/** Ends the group. After an abort, also ends programs that left the group, such as `timeout` and its child. */
async function endAll(group: number, aborted: boolean, command: ShellCommand): Promise<GroupEndResult> {
  const ending = endProcessGroup(group, command);
  if (!aborted) return ending;
  const strays = (): readonly number[] => command.child.strays();
  const [end] = await Promise.all([ending, endFoundProcessGroups(strays, command)]);
  // A program may have left the group while the group ended, so the next line searches again.
  return (await endFoundProcessGroups(strays, command)) ? end : 'unconfirmed';
}

/** Returns true if no process of the group is left. A sandbox needs a moment to exit after its shell. */
function isGone(group: number, { box, clock }: ShellCommand): Promise<boolean> {
  return hasGroupEndedWithin(group, box === undefined ? 0 : TAKEN_DOWN_MS, clock);
}

/**
 * The file descriptor of the shell's end of a socket pair. When the sandbox is ready, the shell writes a line. The
 * shell then waits for a line from the server before it runs the command. At end of file the shell exits.
 */
const GATE = 3;
const WAIT_AT_GATE = `echo >&${GATE}; read -r _ <&${GATE} || exit; exec ${GATE}<&-`;

async function startShell(start: ShellCommand): Promise<ChildProcess> {
  const { command, cwd, box } = start;
  const env = { ...start.env, ...start.child.env };
  if (process.platform === 'win32') {
    // `/d` skips AutoRun commands. `/s` removes only the outer quotes, so the command's own quotes stay.
    return spawn(env['ComSpec'] ?? 'cmd.exe', ['/d', '/s', '/c', `"${command}"`], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsVerbatimArguments: true,
      windowsHide: true,
    });
  }
  // `2>&1` sends both streams to one pipe, which keeps their order. The command stays a separate argument.
  const shell = ['/bin/sh', '-c', `${WAIT_AT_GATE}; exec /bin/sh -c "$0" 2>&1`, command] as const;
  const [program, ...args] =
    box === undefined
      ? shell
      : sandboxCommand(box.box, { root: box.root, cwd, sockets: await findSocketsToHide(box) }, shell);
  start.signal.throwIfAborted();
  return spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
}

/** Returns the server's end of the socket pair. On Windows there is none. */
function gateOf({ stdio }: ChildProcess): Duplex | undefined {
  const gate: unknown = stdio[GATE];
  return gate instanceof Duplex ? gate : undefined;
}

/**
 * Waits until the shell has written to the gate that it is ready (see `GATE`). Returns false if the shell exits or the
 * signal aborts before that. Returns true on Windows, which has no gate.
 */
async function reachedGate(
  child: ChildProcess,
  exited: Promise<unknown>,
  signal: AbortSignal,
): Promise<boolean> {
  const gate = gateOf(child);
  if (gate === undefined) return true;
  // The shell may be killed before the server writes to its socket. The socket then emits an error. The error is
  // ignored, because `exited` reports the shell's exit.
  gate.on('error', () => undefined);
  const ready = new Promise<true>((resolve) => void gate.once('data', () => resolve(true)));
  return unlessAborted(Promise.race([ready, exited.then(() => false)]), signal).catch(() => false);
}

function openGate(child: ChildProcess): void {
  gateOf(child)?.end('\n');
}

/**
 * Waits for the shell's exit or the abort, and returns which was first. A3: if the shell has exited before the abort,
 * returns `exited`, because the abort did not stop it. Node may report the exit later than the abort.
 */
async function firstOf(
  exited: Promise<unknown>,
  signal: AbortSignal,
  shell: number,
): Promise<'exited' | 'aborted'> {
  const exit = exited.then(() => 'exited' as const);
  try {
    return await unlessAborted(exit, signal);
  } catch {
    return signal.aborted && !hasExited(shell) ? 'aborted' : exit;
  }
}

/**
 * Waits until the pipes end. If a daemon holds them open, waits only until there is no output for a time. Later output
 * does not belong to the command.
 */
async function waitForPipesToEnd(
  closed: Promise<unknown>,
  length: () => number,
  clock: Clock,
): Promise<void> {
  const untilQuiet = async (): Promise<void> => {
    for (let before = -1; length() !== before;) {
      before = length();
      if ((await resultWithin(clock, QUIET_MS, closed)) !== undefined) return;
      // A timer may fire before Node reads data that has arrived. So the loop waits one event-loop turn, in which Node
      // reads that data.
      await nextTurn();
    }
  };
  await resultWithin(clock, DRAIN_MS, untilQuiet());
}
