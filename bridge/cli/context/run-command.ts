/** Runs one command: reads the settings, prints an error as a sentence, and sets the exit code. */
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { consoleToLog, createLogger, type Logger } from '../../../shared/runtime/logging.ts';
import { lostOutputEnd } from '../../../shared/runtime/lost-output.ts';
import { endOnUncaughtError } from '../../../shared/runtime/uncaught-error.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import { exitCodeOf } from '../terminal/exit-codes.ts';
import type { BuiltProgramPaths } from '../../settings/program-paths.ts';
import { type BridgeSettings, readBridgeSettings } from '../../settings/settings.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import type { CommandSessions } from './command-sessions.ts';
import { NotOnPathNote, printNotOnPathNote } from '../terminal/not-on-path-note.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';
import { type Terminal, createTerminal, escapeHiddenInLines } from '../terminal/terminal.ts';

export interface CommandRun<Options extends object = object> {
  options: Options;
  settings: BridgeSettings;
  places: BuiltProgramPaths;
  terminal: Terminal;
  env: Environment;
  log: Logger;
  /**
   * Opens the agents and sessions. They are closed when the command returns. If it throws, the exit drops them.
   * @throws ProductError CONFIGURATION if the state directory cannot be used; STORAGE if its database cannot be used
   */
  openSessions: () => Promise<CommandSessions>;
}

/**
 * Runs the command and exits with its exit code. Open connections are dropped. E4: a lost connection stops no task.
 * @param command prints its result, and returns the exit code (undefined means 0)
 */
export async function runCommand<Options extends object>(
  command: (run: CommandRun<Options>) => Promise<number | void>,
  options: Options & Readonly<Record<string, unknown>>,
  places: BuiltProgramPaths,
): Promise<void> {
  const pathNote = new NotOnPathNote();
  const terminal = copyPrintedText(createTerminal(process.env, options['json'] === true), (text) =>
    pathNote.recordHints(text),
  );
  process.stdout.on('error', exitOnLostOutput);
  // Ignores errors while writing to stderr. If nobody can read the messages, the exit code still tells the outcome.
  process.stderr.on('error', () => undefined);
  let code: number;
  try {
    const settings = await readBridgeSettings(options, process.env);
    // The command itself informs the person. So the log is printed only if the person has set a log level other than
    // `info`.
    const level = settings.logLevel === 'info' ? 'silent' : settings.logLevel;
    const log = createLogger({ name: 'mcp-a2a-bridge', level });
    consoleToLog(log);
    process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
    // Without a log, the handler that `bridge/main.ts` has set reports an uncaught error.
    if (level !== 'silent')
      endOnUncaughtError('mcp-a2a-bridge', {
        more: 'The log has the stack trace.',
        log: (error) => log.fatal({ err: error }, 'uncaught error'),
      });
    let sessions: CommandSessions | undefined;
    const openSessions = async (): Promise<CommandSessions> => {
      const { openCommandSessions } = await import('./command-sessions.ts');
      return (sessions = await openCommandSessions({ settings, places, env: process.env, log }));
    };
    code = (await command({ options, settings, places, terminal, env: process.env, log, openSessions })) ?? 0;
    await sessions?.close();
  } catch (error) {
    code = exitCodeOf(error);
    printFailure(terminal, error);
  }
  if (!terminal.printsJson)
    printNotOnPathNote(pathNote, places, options, (text) => terminal.paint('gray', text));
  process.exitCode = code;
  process.stdout.write('', (error) => (error && code === 0 ? exitOnLostOutput(error) : process.exit(code)));
}

function exitOnLostOutput(error: unknown): never {
  const { exitCode, text } = lostOutputEnd('mcp-a2a-bridge', error);
  if (text !== undefined) process.stderr.write(`${text}\n`);
  return process.exit(exitCode);
}

/** Also passes each text for a person to `copy`. */
function copyPrintedText(terminal: Terminal, copy: (text: string) => void): Terminal {
  return {
    ...terminal,
    say: (text) => (copy(text), terminal.say(text)),
    explain: (text) => (copy(text), terminal.explain(text)),
    complain: (text) => (copy(text), terminal.complain(text)),
    warn: (text) => (copy(text), terminal.warn(text)),
  };
}

/** Returns the escaped message of an error for the terminal. The message may quote a file, an agent or a registry. */
export function terminalErrorText(error: unknown): string {
  return escapeHiddenInLines(inTerminalWords(errorMessageOf(error)));
}

function printFailure(terminal: Terminal, error: unknown): void {
  terminal.complain(`mcp-a2a-bridge: ${terminalErrorText(error)}`);
  const message = inTerminalWords(errorMessageOf(error));
  const { reason, facts } =
    error instanceof ProductError
      ? error
      : { reason: exitCodeOf(error) === EXIT_FAILURE ? 'FAILURE' : 'USAGE', facts: {} };
  terminal.json({ error: { reason, message, facts } });
}
