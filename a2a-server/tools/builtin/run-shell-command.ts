/**
 * The tool `run-shell-command` runs a command. A shell command can do anything, so a person approves it first. Only a
 * sandbox confines the command to the workspace.
 */
import { errorCode } from '../../../shared/runtime/errors.ts';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { ChildProcessRecords } from '../../processes/child-process-records.ts';
import { defineTool } from './define-tool.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { commandEnvironment } from '../shell/command-environment.ts';
import { readOutputHint } from './read-output.ts';
import { confinementText, type Confinement } from '../shell/confinement.ts';
import { runShellCommand, type CommandResult } from '../shell/run-command.ts';
import { ToolStoppedError, type Tool } from '../tool.ts';
import type { Workspace } from '../workspace/workspace.ts';

const DEFAULT_SECONDS = 120;
const MAX_SECONDS = 3600;
/** The maximum length of a command. Linux limits one process argument to 128 KiB, so a longer command cannot start. */
const MAX_COMMAND_CHARS = 100_000;

const schema = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(MAX_COMMAND_CHARS)
    .refine((command) => command.trim() !== '' && !command.includes('\0'), {
      message: 'must contain a command, without NUL characters',
    })
    .describe(
      'Command line for /bin/sh (cmd on Windows). It has no standard input. When it exits, the server stops the processes it left running.',
    ),
  cwd: z.string().default('.').describe('Directory to run it in, relative to the workspace.'),
  timeoutSeconds: z
    .number()
    .min(0.1)
    .max(MAX_SECONDS)
    .default(DEFAULT_SECONDS)
    .describe('The server stops the command after this many seconds.'),
});

export interface ShellOptions {
  clock: Clock;
  graceMs: number;
  /** The environment of the server. Commands get only some of its variables. */
  environment: Environment;
  /** Names of further variables that commands get; see command-environment.ts. */
  passEnvironment: readonly string[];
  confinement: Confinement;
  children: ChildProcessRecords;
}

export function createShellCommandTool(options: ShellOptions): Tool {
  return defineTool({
    name: 'run-shell-command',
    description: `Runs a shell command in the workspace and returns its exit code and its output (stdout and stderr together, without the middle of a long output).${boxedNote(options)}`,
    sideEffect: 'command',
    schema,
    timeoutMs: ({ timeoutSeconds }) => timeoutSeconds * 1000,
    title: ({ command }) => `Run \`${oneLineExcerpt(command)}\``,
    reach: ({ command, cwd }) => ({ command, cwd }),
    withContent: (input, command) => ({ ...input, command }),
    show: async ({ command, cwd }, { workspace }) => ({
      preview: { type: 'command', command, cwd: await directoryOf(workspace, cwd) },
      basis: null,
    }),
    run: async ({ command, cwd }, { workspace, signal, output, toolId }) => {
      const { clock, graceMs, environment, passEnvironment, confinement, children } = options;
      const directory = await directoryOf(workspace, cwd);
      const end = await runShellCommand({
        command,
        cwd: directory,
        env: commandEnvironment(environment, passEnvironment),
        signal,
        output,
        clock,
        graceMs,
        child: children.entry({ type: 'tool-execution', toolId }),
        box: confinement.type === 'confined' ? { box: confinement, root: workspace.root } : undefined,
      }).catch((error: unknown) => {
        throw startFailure(error);
      });
      if (end.stopped) throw commandStoppedError(end);
      const ending = endingOf(end);
      const note = backgroundProcessNotes(end);
      const body = end.output === '' ? '[no output]' : end.output.replace(/\n$/u, '');
      return {
        text: [body, ...(end.cut ? [readOutputHint(toolId)] : []), `[${ending}]`, ...note].join('\n'),
        summary: `\`${oneLineExcerpt(command, 60)}\` ${ending}`,
      };
    },
  });
}

/** Returns a note about the sandbox for the model, so that the model does not try commands that the sandbox blocks. */
function boxedNote({ confinement }: ShellOptions): string {
  return confinement.type === 'confined' ? ` ${confinementText(confinement)}` : '';
}

async function directoryOf(workspace: Workspace, path: string): Promise<string> {
  const place = await workspace.locate(path);
  if (place.kind !== 'directory') throw new Error(`"${path}" is not a directory of the workspace.`);
  return place.path === '.' ? workspace.root : join(workspace.root, place.path);
}

function endingOf({ exitCode, exitSignal }: CommandResult): string {
  if (exitSignal !== null) return `was ended by ${exitSignal}`;
  return `exited with code ${exitCode ?? 'unknown'}`;
}

/** Tells the model whether the command's background processes were stopped, so that the model does not rely on them. */
function backgroundProcessNotes({ group }: CommandResult): string[] {
  switch (group) {
    case 'gone':
      return [];
    case 'terminated':
    case 'killed':
      return ['[the server stopped the processes it left running in the background]'];
    case 'unconfirmed':
      return ['[the server could not stop a process it left running in the background]'];
  }
}

function commandStoppedError({ output, group }: CommandResult): ToolStoppedError {
  const confirmed = group !== 'unconfirmed';
  return new ToolStoppedError(
    confirmed ? 'The command was stopped.' : 'A process of the command did not end, and may still run.',
    {
      text: output,
      confirmed,
    },
  );
}

function startFailure(error: unknown): unknown {
  switch (errorCode(error)) {
    case 'E2BIG':
      return new Error('The command is too long for the system; put it into a script and run that.', {
        cause: error,
      });
    case 'EAGAIN':
    case 'ENOMEM':
    case 'EMFILE':
      return new Error('The system cannot start another process now; try again in a moment.', {
        cause: error,
      });
    case 'ENOENT':
      return new Error('The shell could not start: /bin/sh or the directory does not exist.', {
        cause: error,
      });
    case undefined:
    default:
      return error;
  }
}
