/**
 * Starts the local A2A server as a detached process. The server and its tasks continue after the bridge and the MCP
 * client have ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProductError } from '../../shared/runtime/errors.ts';
import { readServerRecord, type ServerRecord } from '../../shared/state/server-record.ts';
import { watchDirectory } from './watch-directory.ts';

export interface ServerProgram {
  script: string;
  stateDir: string;
  /** The bridge's configuration file, which also contains the server's settings. */
  configFile: string | undefined;
}

/** Explains how to change the server's port, because the bridge has no flag for it. */
export const OTHER_PORT_ADVICE =
  'set A2A_SERVER_PORT where the MCP client starts the bridge, or "port" under "server" in config.json';

/** Matches the server's log line about a port that another program uses. */
const PORT_TAKEN = /\bport \d+\b.*\btaken\b|EADDRINUSE/i;
const TAIL_LINES = 15;

/**
 * Starts the server, and waits until it has written its record into the state directory. The wait has no time limit: an
 * upgrade of a large journal may take minutes.
 * @throws ProductError CONFIGURATION with the end of the log, if the server exits
 */
export async function startLocalServer({
  script,
  stateDir,
  configFile,
}: ServerProgram): Promise<ServerRecord> {
  const logPath = join(stateDir, 'server.log');
  const log = await open(logPath, 'a', 0o600);
  const logStart = (await log.stat()).size;
  try {
    const args = [
      script,
      '--state-dir',
      stateDir,
      '--log-file',
      logPath,
      ...(configFile === undefined ? [] : ['--config', configFile]),
    ];
    // The log file is also the stderr of the server, because Node prints a crash there. The server's stdout only
    // repeats the log.
    const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'ignore', log.fd] });
    child.unref();
    const outcome = await waitForServerRecord(child, stateDir);
    if (outcome.type === 'ready') return outcome.record;
    const tail = await tailOf(logPath, logStart).catch(() => '(its log cannot be read)');
    const advice = PORT_TAKEN.test(tail) ? `\nTo give it another port, ${OTHER_PORT_ADVICE}.` : '';
    throw new ProductError(
      'CONFIGURATION',
      `The local A2A server could not be started: ${outcome.why}. Its log, ${logPath}, ends with:\n${tail}${advice}`,
    );
  } finally {
    await log.close();
  }
}

type StartOutcome = { type: 'ready'; record: ServerRecord } | { type: 'failed'; why: string };

/**
 * Waits until the server has written its record. If it exits first, returns why.
 * @throws an error of `readServerRecord`
 */
async function waitForServerRecord(child: ChildProcess, stateDirectory: string): Promise<StartOutcome> {
  let stopWatching: (() => void) | undefined;
  try {
    return await new Promise<StartOutcome>((resolve, reject) => {
      const fail = (why: string): void => resolve({ type: 'failed', why });
      const look = async (): Promise<void> => {
        const record = await readServerRecord(stateDirectory).catch(reject);
        if (record && record.pid === child.pid) resolve({ type: 'ready', record });
      };
      child.once('error', (error) => fail(error.message));
      child.once('exit', (code, signal) =>
        fail(`it ended at once (${signal ?? `exit code ${String(code)}`})`),
      );
      // The directory is watched before the first check, so that no change is missed.
      stopWatching = watchDirectory(stateDirectory, () => void look());
      void look();
    });
  } finally {
    stopWatching?.();
    child.removeAllListeners();
  }
}

/**
 * Returns the last lines that the server has logged since this start. `from` is the size of the log before the start.
 */
async function tailOf(path: string, from: number): Promise<string> {
  const log = await readFile(path);
  // The server may have rotated the log after its start. The log is then shorter than `from`.
  const text = log
    .subarray(log.length < from ? 0 : from)
    .toString('utf8')
    .trim();
  return text === ''
    ? '(it logged nothing: check that the disk has free space)'
    : text.split('\n').slice(-TAIL_LINES).join('\n');
}
