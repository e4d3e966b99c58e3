/**
 * Starts the process of an ACP agent in a new process group, so that the server can also end the agent's child
 * processes. The agent gets the same environment variables as shell commands.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { errorMessageOf, ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { NO_CHILD_RECORDS, type ChildProcessRecords } from '../../processes/child-process-records.ts';
import { endProcessGroup, isGroupAlive } from '../../processes/end-process-group.ts';
import { acpAgentName, acpCommandText, type AcpAgentCommand } from './agent-program.ts';
import { AcpStdoutFilter } from './acp-stdout-filter.ts';

/** The maximum number of stored characters from the end of stderr. */
const MAX_STDERR_CHARS = 4_000;
const MAX_STDERR_CHARS_IN_ERROR = 600;

export interface AcpProcess {
  readonly stdin: Writable;
  /** The lines that may be ACP messages. The stream fails after too much output that is not ACP. */
  readonly stdout: Readable;
  /** Resolves after the process has exited. The text is for example `with exit code 1`. */
  readonly exited: Promise<string>;
  /** Returns the agent's stderr and its invalid stdout as sentences for an error message. Empty without such output. */
  lastOutput(): string;
  /** Sends SIGTERM to the process group, and SIGKILL after `graceMs`. */
  end(graceMs: number): Promise<void>;
}

export interface AcpProcessOptions {
  cwd: string;
  env: Record<string, string>;
  clock: Clock;
  /** Records the process, so that the next server can end it after a crash. */
  children?: ChildProcessRecords;
}

/** @throws ProductError AGENT_ERROR if the agent cannot start; STORAGE if its process cannot be recorded */
export async function startAcpProcess(
  command: AcpAgentCommand,
  { cwd, env, clock, children = NO_CHILD_RECORDS }: AcpProcessOptions,
): Promise<AcpProcess> {
  const entry = children.entry({ type: 'acp-agent', agent: acpAgentName(command) });
  const child = spawn(command.command, [...command.args], {
    cwd,
    env: { ...env, ...entry.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const exit = once(child, 'exit').then(() => endOf(child));
  // If the process does not start, the wait for `spawn` reports the failure.
  exit.catch(() => undefined);
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw startFailure(command, error);
  }
  const group = child.pid;
  if (group === undefined) throw startFailure(command, new Error('it has no process id'));
  await entry.record(group);
  const lines = new AcpStdoutFilter();
  child.stdout.pipe(lines);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARS);
  });
  // The agent may close stdin at any time. This error is ignored, because `exited` reports the agent's end.
  child.stdin.on('error', () => undefined);
  return {
    stdin: child.stdin,
    stdout: lines,
    exited: exit,
    lastOutput: () => lastOutput(stderr, lines.otherOutput),
    end: async (graceMs) => {
      child.stdin.destroy();
      const left = (await isGroupAlive(group)) ? await endProcessGroup(group, { graceMs, clock }) : 'gone';
      if (left !== 'unconfirmed') entry.forget();
    },
  };
}

function endOf({ exitCode, signalCode }: ChildProcessByStdio<Writable, Readable, Readable>): string {
  return signalCode === null ? `with exit code ${exitCode ?? 'unknown'}` : `by ${signalCode}`;
}

function lastOutput(stderr: string, otherOutput: string): string {
  const said = stripVTControlCharacters(stderr).trim().slice(-MAX_STDERR_CHARS_IN_ERROR);
  const printed = stripVTControlCharacters(otherOutput);
  return [
    ...(said === ''
      ? []
      : [` Its last output on stderr: ${oneLineExcerpt(said, MAX_STDERR_CHARS_IN_ERROR)}`]),
    ...(printed === '' ? [] : [` Its output on stdout that is not ACP: ${oneLineExcerpt(printed, 200)}`]),
  ].join('');
}

function startFailure(command: AcpAgentCommand, error: unknown): ProductError {
  const why =
    errorCode(error) === 'ENOENT'
      ? 'there is no such program on the PATH of the server, or the workspace does not exist'
      : errorMessageOf(error);
  return new ProductError(
    'AGENT_ERROR',
    `The agent ${acpCommandText(command)} could not be started: ${why}. Correct the setting "agent" or install the agent, then send another message in the session.`,
    { cause: error },
  );
}
