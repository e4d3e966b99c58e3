import { systemClock, type Clock } from '../../../shared/runtime/clock.ts';
import { NO_RECORDS, type ChildProcesses } from '../../processes/child-processes.ts';
import { appendFile } from './append-file.ts';
import { askPersonTool } from './ask-person.ts';
import { createCrawl } from './crawl.ts';
import { deleteFile } from './delete-file.ts';
import { editFile } from './edit-file.ts';
import { createFetch } from './fetch.ts';
import { listFiles } from './list-files.ts';
import { moveFile } from './move-file.ts';
import { multiEdit } from './multi-edit.ts';
import { readFile } from './read-file.ts';
import { createReadOutput, NO_OUTPUTS, type OutputReader } from './read-output.ts';
import { createRunShellCommand } from './run-shell-command.ts';
import { searchFiles } from './search-files.ts';
import type { Environment } from '../shell/command-environment.ts';
import { UNCONFINED, type Confinement } from '../shell/confinement.ts';
import type { Tool } from '../tool.ts';
import { updateTodos } from './update-todos.ts';
import { createWait } from './wait.ts';
import { allowedHosts } from '../web/allowed-hosts.ts';
import { systemResolve } from '../web/resolve-checked-host.ts';
import { writeFile } from './write-file.ts';

/** The default grace period: the time between SIGTERM and SIGKILL (A2: a stopped process gets a grace period). */
const DEFAULT_GRACE_MS = 5000;

/**
 * The time that a stopped tool needs after `graceMs`: it checks that its killed processes have exited, and reads their
 * last output. The server waits `graceMs` plus this time before it reports the stop as unconfirmed.
 */
export const SETTLE_MARGIN_MS = 3000;

interface BuiltinToolsOptions {
  clock?: Clock;
  graceMs?: number;
  /** Shell commands get some of these variables. The default is the server's own environment. */
  environment?: Environment;
  /** Names of further variables that shell commands get. `CARGO_*` means each name with that prefix. */
  passEnvironment?: readonly string[];
  /** X2: private hosts that the web tools may request, each as `host` or `host:port`. */
  privateHosts?: readonly string[];
  /**
   * Gives `read-output` the output of earlier tool executions. Without this function, `read-output` finds no output.
   */
  outputs?: OutputReader;
  /** The sandbox of shell commands. By default, there is none. */
  confinement?: Confinement;
  /** Records the processes of shell commands. The default records nothing. */
  children?: ChildProcesses;
}

export function builtinTools(options: BuiltinToolsOptions = {}): Tool[] {
  const { clock = systemClock, graceMs = DEFAULT_GRACE_MS } = options;
  const {
    environment = process.env,
    passEnvironment = [],
    privateHosts = [],
    outputs = NO_OUTPUTS,
    confinement = UNCONFINED,
    children = NO_RECORDS,
  } = options;
  const web = { allowed: allowedHosts(privateHosts), resolve: systemResolve, clock };
  return [
    listFiles,
    readFile,
    searchFiles,
    writeFile,
    appendFile,
    editFile,
    multiEdit,
    moveFile,
    deleteFile,
    createRunShellCommand({ clock, graceMs, environment, passEnvironment, confinement, children }),
    createReadOutput(outputs),
    createFetch(web),
    createCrawl(web),
    updateTodos,
    createWait(clock),
    askPersonTool,
  ];
}
