/** One run of a command: settings and terminal in, an exit code out, and every failure as a sentence. */
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { consoleToLog, createLogger, type Logger } from '../../../shared/runtime/logging.ts';
import { EXIT_FAILURE, exitCodeOf } from '../terminal/exit-codes.ts';
import type { ProgramPaths } from '../../settings/program-paths.ts';
import { type BridgeSettings, readBridgeSettings } from '../../settings/settings.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';
import { type Terminal, thisTerminal } from '../terminal/terminal.ts';

/** What every command can be given. */
export interface CommonOptions {
  json?: boolean;
}

export interface CommandRun<Options extends CommonOptions> {
  options: Options;
  settings: BridgeSettings;
  places: ProgramPaths;
  terminal: Terminal;
  env: Readonly<Record<string, string | undefined>>;
  log: Logger;
}

/** Does the work, and says what came of it. @returns the exit code; 0 if it says nothing */
export type Command<Options extends CommonOptions> = (run: CommandRun<Options>) => Promise<number | void>;

/** Runs the command and ends the process with its exit code. Whatever is still open is let go of: no task depends on it (E4). */
export async function runCommand<Options extends CommonOptions>(
  command: Command<Options>,
  options: Options & Readonly<Record<string, unknown>>,
  places: ProgramPaths,
): Promise<void> {
  const terminal = thisTerminal();
  // A reader that has seen enough, as `head` has, is no failure.
  process.stdout.on('error', () => process.exit(0));
  let code: number;
  try {
    const settings = await readBridgeSettings(options, process.env);
    // A person at a terminal is told what concerns them; the log is for those who ask for more than the default.
    const level = settings.logLevel === 'info' ? 'silent' : settings.logLevel;
    const log = createLogger({ name: 'mcp-a2a-bridge', level });
    consoleToLog(log);
    process.on('unhandledRejection', (error) => log.error({ err: error }, 'a failure nobody waited for'));
    code = (await command({ options, settings, places, terminal, env: process.env, log })) ?? 0;
  } catch (error) {
    code = exitCodeOf(error);
    tellFailure(terminal, error, options.json === true);
  }
  process.exitCode = code;
  process.stdout.write('', () => process.exit(code));
}

function tellFailure(terminal: Terminal, error: unknown, json: boolean): void {
  const message = inTerminalWords(messageOf(error));
  if (!json) {
    terminal.complain(`mcp-a2a-bridge: ${message}`);
    return;
  }
  const { reason, facts } =
    error instanceof ProductError
      ? error
      : { reason: exitCodeOf(error) === EXIT_FAILURE ? 'FAILURE' : 'USAGE', facts: {} };
  terminal.say(JSON.stringify({ error: { reason, message, facts } }));
}
