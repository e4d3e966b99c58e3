import { systemClock, type Clock } from '../../../shared/runtime/clock.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { NO_CHILD_RECORDS, type ChildProcessRecords } from '../../processes/child-process-records.ts';
import { appendFileTool, writeFileTool } from './write-file.ts';
import { askPersonTool } from './ask-person.ts';
import { createCrawlTool } from './crawl.ts';
import { deleteFileTool } from './delete-file.ts';
import { editFileTool, multiEditTool } from './edit-file.ts';
import { createFetchTool } from './fetch.ts';
import { listFilesTool } from './list-files.ts';
import { moveFileTool } from './move-file.ts';
import { readFileTool } from './read-file.ts';
import { createReadOutputTool, NO_TOOL_OUTPUTS, type ReadToolOutput } from './read-output.ts';
import { createShellCommandTool } from './run-shell-command.ts';
import { searchFilesTool } from './search-files.ts';
import { UNCONFINED, type Confinement } from '../shell/confinement.ts';
import type { Tool } from '../tool.ts';
import { updateTodosTool } from './update-todos.ts';
import { createWaitTool } from './wait.ts';
import { createHostAllowList } from '../web/allowed-hosts.ts';
import { resolveHostBySystem } from '../web/resolve-checked-host.ts';

/** The default grace period: the time between SIGTERM and SIGKILL (A2: a stopped process gets a grace period). */
const DEFAULT_GRACE_MS = 5000;

/**
 * The time that a stopped tool needs after `graceMs`. In this time, the tool checks that its killed processes have
 * exited, and reads their last output. The server waits `graceMs` plus this time before it reports the stop as
 * unconfirmed.
 */
export const KILL_CONFIRMATION_MS = 3000;

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
  outputs?: ReadToolOutput;
  /** The sandbox of shell commands. By default, there is none. */
  confinement?: Confinement;
  /** Records the processes of shell commands. The default records nothing. */
  children?: ChildProcessRecords;
}

export function builtinTools(options: BuiltinToolsOptions = {}): Tool[] {
  const { clock = systemClock, graceMs = DEFAULT_GRACE_MS } = options;
  const {
    environment = process.env,
    passEnvironment = [],
    privateHosts = [],
    outputs = NO_TOOL_OUTPUTS,
    confinement = UNCONFINED,
    children = NO_CHILD_RECORDS,
  } = options;
  const web = { allowed: createHostAllowList(privateHosts), resolve: resolveHostBySystem, clock };
  return [
    listFilesTool,
    readFileTool,
    searchFilesTool,
    writeFileTool,
    appendFileTool,
    editFileTool,
    multiEditTool,
    moveFileTool,
    deleteFileTool,
    createShellCommandTool({ clock, graceMs, environment, passEnvironment, confinement, children }),
    createReadOutputTool(outputs),
    createFetchTool(web),
    createCrawlTool(web),
    updateTodosTool,
    createWaitTool(clock),
    askPersonTool,
  ];
}
