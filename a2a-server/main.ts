#!/usr/bin/env node
/** The command `a2a-server`. Without a subcommand it serves an agent over A2A. */
import { EXIT_FAILURE } from '../shared/runtime/exit-codes.ts';
import { fileURLToPath } from 'node:url';
import { ProductError } from '../shared/runtime/errors.ts';
import { newFileProblem } from '../shared/runtime/file-problem.ts';
import { consoleToLog, createLogger, type Logger } from '../shared/runtime/logging.ts';
import type { DestinationStream } from 'pino';
import { openLogFile } from '../shared/runtime/log-file.ts';
import { endOnUncaughtError, createStderrReport } from '../shared/runtime/uncaught-error.ts';
import { CHILD_MARKER, hideProcEnviron } from '../shared/runtime/hide-proc-environ.ts';
import { createCommandLine } from './startup/commands/command-line.ts';
import { reportErrorAndExit } from './startup/commands/command-output.ts';
import { readServerSettings } from './startup/settings/read-settings.ts';
import { createSettingsReloader } from './startup/settings/live-settings.ts';
import { commandEnvironment } from './tools/shell/command-environment.ts';
import type { ServerRun } from './startup/start-opened-server.ts';

const PAGE_DIRECTORY = fileURLToPath(new URL('../web/', import.meta.url));

const SHUTDOWN_STAGES = [
  'shutting down: waiting for the running tools',
  'shutting down: stopping the running tools',
  'exiting at once',
] as const;

/**
 * True if /proc no longer shows secrets in the environment of this process. A shell command without a sandbox could
 * read them there.
 */
const secretsHidden = hideProcEnviron(isHarmless);

// The reader of a pipe may close it, e.g. `head`, or the program that started the server. Without a listener, Node
// would throw.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

endOnUncaughtError('a2a-server', createStderrReport('A2A_SERVER_LOG_LEVEL'));

void createCommandLine(start, PAGE_DIRECTORY).parseAsync();

function isHarmless(name: string): boolean {
  return name === CHILD_MARKER || Object.hasOwn(commandEnvironment({ [name]: '' }), name);
}

async function start(flags: Readonly<Record<string, unknown>>): Promise<void> {
  // The server continues after its terminal is closed.
  process.on('SIGHUP', () => undefined);
  try {
    const settings = await readServerSettings(flags, process.env);
    const log = createLogger({ name: 'a2a-server', level: settings.logLevel, ...logTo(settings.logFile) });
    consoleToLog(log);
    giveUpOnBugs(log);
    if (!secretsHidden)
      log.warn('shell commands can read the secrets of this process in /proc; set --confine-shell require');
    const started = import('./startup/serve.ts').then(({ serve }) => serve(settings, log, PAGE_DIRECTORY));
    const reload = createSettingsReloader(
      settings,
      {
        read: () => readServerSettings(flags, process.env),
        apply: async (next) => (await started).reload(next),
      },
      log,
    );
    process.on('SIGHUP', () => void reload());
    const told = stopOnSignals(started, log);
    const run = await started;
    if (told()) return;
    const { url, pid, version } = run.record;
    log.info({ url, pid, version, state: settings.stateDir, recovered: run.recovered }, 'ready');
    process.stdout.write(`a2a-server ${version} is ready at ${url} (state in ${settings.stateDir})\n`);
  } catch (error) {
    reportErrorAndExit(error);
  }
}

/**
 * Opens the log file. Without a path, the log goes to standard error.
 * @throws ProductError CONFIGURATION if the file cannot be written
 */
function logTo(path: string | undefined): { destination?: DestinationStream } {
  if (path === undefined) return {};
  try {
    return { destination: openLogFile(path) };
  } catch (error) {
    throw new ProductError(
      'CONFIGURATION',
      `Setting "logFile": ${path} cannot be opened: ${newFileProblem(error)}.`,
      {
        facts: { key: 'logFile', path },
        cause: error,
      },
    );
  }
}

/**
 * Handles the signals that stop the server. The first signal stops the server and gives running tools some time to
 * finish. The second signal stops the tools at once. The third signal ends the process. The journal stays correct in
 * each case. A server that is still starting stops after its start, because it may already run tools of resumed tasks.
 * Returns a function that returns true after the first signal.
 */
function stopOnSignals(started: Promise<ServerRun>, log: Logger): () => boolean {
  let signals = 0;
  const stop = (signal: NodeJS.Signals): void => {
    signals += 1;
    log.info({ signal }, SHUTDOWN_STAGES[Math.min(signals, SHUTDOWN_STAGES.length) - 1]);
    if (signals > 2) process.exit(EXIT_FAILURE);
    const hurried = signals === 2;
    started.then(
      (run) => {
        if (hurried) run.hurry();
        return run.stop().then(
          () => process.exit(0),
          (error: unknown) => {
            log.fatal({ err: error }, 'the shutdown failed');
            process.exit(EXIT_FAILURE);
          },
        );
      },
      // The caller of `stopOnSignals` reports why the start failed.
      () => undefined,
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return () => signals > 0;
}

/** Ends the process after an unexpected error. The journal stays correct, and the next process continues its tasks. */
function giveUpOnBugs(log: Logger): void {
  endOnUncaughtError('a2a-server', {
    more: 'The log has the stack trace. The next start continues the tasks.',
    log: (error) => log.fatal({ err: error }, 'uncaught error'),
  });
}
