/**
 * The process of an ACP agent: in a group of its own, so that what it starts ends with it, and with that part of the
 * server's environment that shell commands get.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { oneLine } from '../../../shared/text/one-line.ts';
import { UNRECORDED, type ChildProcesses } from '../../processes/child-processes.ts';
import { endGroup, isAlive } from '../../processes/process-group.ts';
import { codeOf } from '../../tools/workspace/file-failure.ts';
import { agentName, spelled, type AgentCommand } from './agent-command.ts';
import { MessageLines } from './message-lines.ts';

/** Characters of stderr that are kept, from its end. */
const MAX_STDERR = 4_000;
/** Characters of it that are told. */
const MAX_TOLD = 600;

export interface AgentProcess {
  readonly stdin: Writable;
  /** What may be messages; fails when what it prints is none at all. */
  readonly stdout: Readable;
  /** Resolves with how it ended, e.g. `with exit code 1`, when the process is gone. */
  readonly exited: Promise<string>;
  /** What it has said beside messages, as a sentence that can follow another; empty where it said nothing. */
  lastWords(): string;
  /** Ends what is left of its group; after `graceMs` by SIGKILL. */
  end(graceMs: number): Promise<void>;
}

export interface AgentProcessOptions {
  cwd: string;
  env: Record<string, string>;
  clock: Clock;
  /** Where the process is recorded; nowhere if left out. */
  children?: ChildProcesses;
}

/** @throws ProductError AGENT_ERROR when it cannot be started, STORAGE when it cannot be recorded. */
export async function startAgentProcess(
  command: AgentCommand,
  { cwd, env, clock, children = UNRECORDED }: AgentProcessOptions,
): Promise<AgentProcess> {
  const entry = children.entry({ type: 'acp-agent', agent: agentName(command) });
  const child = spawn(command.command, [...command.args], {
    cwd,
    env: { ...env, ...entry.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const exit = once(child, 'exit').then(() => endOf(child));
  // Without a process there is no exit; the failure is that of `spawn`, below.
  exit.catch(() => undefined);
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw startFailure(command, error);
  }
  const group = child.pid;
  if (group === undefined) throw startFailure(command, new Error('it has no process id'));
  try {
    await entry.record(group);
  } catch (error) {
    await endGroup(group, { graceMs: 0, clock });
    throw error;
  }
  const lines = new MessageLines();
  child.stdout.pipe(lines);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR);
  });
  // It may close its end at any time; that it has is seen by its exit.
  child.stdin.on('error', () => undefined);
  return {
    stdin: child.stdin,
    stdout: lines,
    exited: exit,
    lastWords: () => lastWords(stderr, lines.strayed),
    end: async (graceMs) => {
      child.stdin.destroy();
      const left = (await isAlive(group)) ? await endGroup(group, { graceMs, clock }) : 'gone';
      if (left !== 'unconfirmed') entry.forget();
    },
  };
}

function endOf({ exitCode, signalCode }: ChildProcessByStdio<Writable, Readable, Readable>): string {
  return signalCode === null ? `with exit code ${exitCode ?? 'unknown'}` : `by ${signalCode}`;
}

function lastWords(stderr: string, strayed: string): string {
  const said = stripVTControlCharacters(stderr).trim().slice(-MAX_TOLD);
  const printed = stripVTControlCharacters(strayed);
  return [
    ...(said === '' ? [] : [` The end of what it wrote to stderr: ${oneLine(said, MAX_TOLD)}`]),
    ...(printed === '' ? [] : [` On stdout it printed what is not ACP: ${oneLine(printed, 200)}`]),
  ].join('');
}

function startFailure(command: AgentCommand, error: unknown): ProductError {
  const why =
    codeOf(error) === 'ENOENT'
      ? 'there is no such program on the PATH of the server (or its workspace is gone)'
      : messageOf(error);
  return new ProductError(
    'AGENT_ERROR',
    `The agent ${spelled(command)} could not be started: ${why}. Mend the setting "agent" or install it, then go on with the session.`,
    { cause: error },
  );
}
