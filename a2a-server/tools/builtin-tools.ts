/** The tools every agent of this server has. */
import { systemClock, type Clock } from '../../shared/clock.ts';
import { UNRECORDED, type ChildProcesses } from '../processes/child-processes.ts';
import { appendFile } from './append-file.ts';
import { askPerson } from './ask-person.ts';
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
import type { Environment } from './shell/command-environment.ts';
import { UNCONFINED, type Confinement } from './shell/confinement.ts';
import type { Tool } from './tool.ts';
import { updateTodos } from './update-todos.ts';
import { createWait } from './wait.ts';
import { allowedHosts } from './web/allowed-hosts.ts';
import { systemResolve } from './web/resolve.ts';
import { writeFile } from './write-file.ts';

/** A2: between SIGTERM and SIGKILL. */
export const DEFAULT_GRACE_MS = 5000;

/**
 * What a stopped tool may need beyond its grace period, in milliseconds: to see that killed processes are gone, and to
 * read what they had written. Whoever waits for it should wait `graceMs` and this long before calling it unconfirmed.
 */
export const SETTLE_MARGIN_MS = 3000;

export interface BuiltinToolsOptions {
  clock?: Clock;
  /** How long an aborted shell command may take to end before it is killed, in milliseconds. */
  graceMs?: number;
  /** The environment that shell commands get a part of; the server's own if left out. */
  environment?: Environment;
  /** Names of variables passed to shell commands beyond the usual ones; `CARGO_*` stands for all that begin so. */
  passEnvironment?: readonly string[];
  /** Hosts beyond the public ones that the web tools may reach, each `host` or `host:port` (X2). */
  privateHosts?: readonly string[];
  /** What tool executions have put out; without it there is nothing to read. */
  outputs?: ReadOutput;
  /** What shell commands are confined to; to nothing if left out. */
  confinement?: Confinement;
  /** Where the processes of shell commands are recorded; nowhere if left out. */
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
    children = UNRECORDED,
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
    askPerson,
  ];
}
