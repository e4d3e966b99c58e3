/** Creates the built-in tools of the server. */
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
import { createReadOutput, NO_OUTPUTS, type ReadOutput } from './read-output.ts';
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

/** A2: the time between SIGTERM and SIGKILL, in milliseconds. */
const DEFAULT_GRACE_MS = 5000;

/**
 * Extra time for a stopped tool after its grace period, in milliseconds. The tool uses it to check that killed
 * processes are gone and to read their last output. Wait `graceMs` plus this time before you report the stop as
 * unconfirmed.
 */
export const SETTLE_MARGIN_MS = 3000;

interface BuiltinToolsOptions {
  clock?: Clock;
  /** Time for an aborted shell command to end before the server kills it, in milliseconds. */
  graceMs?: number;
  /** The environment from which shell commands get a part. The default is the server's own environment. */
  environment?: Environment;
  /** Names of extra variables to pass to shell commands. `CARGO_*` means each name with that prefix. */
  passEnvironment?: readonly string[];
  /** Private hosts that the web tools may use, each as `host` or `host:port` (X2). */
  privateHosts?: readonly string[];
  /** Returns the output of tool executions. If absent, `read-output` finds no execution. */
  outputs?: ReadOutput;
  /** The confinement of shell commands. The default is none. */
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
