/** `run-shell-command`: anything else, which is why a person sees it first. Confined to the workspace only in a box. */
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../shared/clock.ts';
import type { ChildProcesses } from '../processes/child-processes.ts';
import { defineTool } from './define-tool.ts';
import { oneLine } from './one-line.ts';
import { commandEnvironment, type Environment } from './shell/command-environment.ts';
import { wholeIn } from './read-output.ts';
import { confinementText, type Confinement } from './shell/confinement.ts';
import { runCommand, type CommandEnd } from './shell/run-command.ts';
import { ToolStopped, type Tool } from './tool.ts';
import type { Workspace } from './workspace.ts';
import { codeOf } from './workspace/file-failure.ts';

const DEFAULT_SECONDS = 120;
const MAX_SECONDS = 3600;
/** A single argument of a process may have 128 KiB on Linux. */
const MAX_COMMAND = 100_000;

const schema = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(MAX_COMMAND)
    .refine((command) => command.trim() !== '' && !command.includes('\0'), {
      message: 'must hold a command, without NUL characters',
    })
    .describe(
      'Command line for /bin/sh (cmd on Windows). It has no input; what it leaves running is ended with it.',
    ),
  cwd: z.string().default('.').describe('Directory to run it in, relative to the workspace.'),
  timeoutSeconds: z
    .number()
    .min(0.1)
    .max(MAX_SECONDS)
    .default(DEFAULT_SECONDS)
    .describe('After so many seconds it is stopped.'),
});

export interface ShellOptions {
  clock: Clock;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  graceMs: number;
  /** The environment that commands get a part of. */
  environment: Environment;
  /** Variables passed on beyond the usual ones; see command-environment.ts. */
  passEnvironment: readonly string[];
  confinement: Confinement;
  /** Where the process groups of commands are recorded. */
  children: ChildProcesses;
}

export function createRunShellCommand(options: ShellOptions): Tool {
  return defineTool({
    name: 'run-shell-command',
    description: `Runs a shell command in the workspace and gives back its exit code and its output (stdout and stderr together; the middle of a long output is left out).${boxedNote(options)}`,
    sideEffect: 'command',
    schema,
    timeoutMs: ({ timeoutSeconds }) => timeoutSeconds * 1000,
    title: ({ command }) => `Run \`${oneLine(command)}\``,
    reach: ({ command }) => ({ command }),
    withContent: (input, command) => ({ ...input, command }),
    show: async ({ command, cwd }, { workspace }) => ({
      preview: { type: 'command', command, cwd: await directoryOf(workspace, cwd) },
      basis: null,
    }),
    run: async ({ command, cwd }, { workspace, signal, output, toolId }) => {
      const { clock, graceMs, environment, passEnvironment, confinement, children } = options;
      const directory = await directoryOf(workspace, cwd);
      const end = await runCommand({
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
      if (end.stopped) throw stopped(end);
      const ending = endingOf(end);
      const note = leftover(end);
      const body = end.output === '' ? '[no output]' : end.output.replace(/\n$/u, '');
      return {
        text: [body, ...(end.cut ? [wholeIn(toolId)] : []), `[${ending}]`, ...note].join('\n'),
        summary: `\`${oneLine(command, 60)}\` ${ending}`,
      };
    },
  });
}

/** A model that knows of the box does not try what fails in it. */
function boxedNote({ confinement }: ShellOptions): string {
  return confinement.type === 'confined' ? ` ${confinementText(confinement)}` : '';
}

async function directoryOf(workspace: Workspace, path: string): Promise<string> {
  const place = await workspace.locate(path);
  if (place.kind !== 'directory') throw new Error(`"${path}" is not a directory of the workspace.`);
  return place.path === '.' ? workspace.root : join(workspace.root, place.path);
}

function endingOf({ exitCode, exitSignal }: CommandEnd): string {
  if (exitSignal !== null) return `was ended by ${exitSignal}`;
  return `exited with code ${exitCode ?? 'unknown'}`;
}

/** Said to the model, so that it does not count on a server it has started in the background. */
function leftover({ group }: CommandEnd): string[] {
  switch (group) {
    case 'gone':
      return [];
    case 'terminated':
    case 'killed':
      return ['[what it had left running in the background was stopped]'];
    case 'unconfirmed':
      return ['[something it had left running in the background could not be stopped]'];
  }
}

function stopped({ output, group }: CommandEnd): ToolStopped {
  const confirmed = group !== 'unconfirmed';
  return new ToolStopped(confirmed ? 'The command was stopped.' : 'The command may still be running.', {
    text: output,
    confirmed,
  });
}

function startFailure(error: unknown): unknown {
  switch (codeOf(error)) {
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
      return new Error('The shell could not be started: /bin/sh or the directory is not there.', {
        cause: error,
      });
    case undefined:
    default:
      return error;
  }
}
