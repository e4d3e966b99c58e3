/**
 * Defines the command line of `mcp-a2a-bridge`. Each command is imported only when it runs, because the MCP server must
 * start fast.
 */
import { Command } from 'commander';
import { readPackageVersion } from '../../shared/runtime/version.ts';
import { addCommands } from './add-commands.ts';
import { addServeFlags } from '../settings/serve-arguments.ts';
import {
  helpFormat,
  wrapHelpText,
  pointToOwnHelp,
  refuseUnknownCommand,
} from '../../shared/runtime/help-command.ts';
import { EXIT_USAGE } from '../../shared/runtime/exit-codes.ts';
import { NotOnPathNote, printNotOnPathNote } from './terminal/not-on-path-note.ts';
import { EXIT_MEANINGS } from './terminal/exit-codes.ts';
import type { BuiltProgramPaths } from '../settings/program-paths.ts';
import { UNFLAGGED_BRIDGE_SETTINGS } from '../settings/settings.ts';

const HELP_HINT = '(mcp-a2a-bridge --help lists the commands and options)';

/**
 * Builds the command line of the program.
 * @param serve runs the MCP server; called if the command line names no command
 * @param typed the command line. If it contains --json, a usage error is printed as JSON too.
 */
export function createBridgeCommandLine(
  serve: (flags: Record<string, unknown>) => Promise<void>,
  places: BuiltProgramPaths,
  typed: readonly string[] = process.argv,
): Command {
  const json = typed.includes('--json');
  const command = new Command('mcp-a2a-bridge')
    .description(
      'Serves MCP over stdio, and optionally over HTTP: hand work to an A2A agent, approve each risky step, walk away, come back, lose nothing. The commands do the same from a terminal.',
    )
    .version(readPackageVersion())
    .showHelpAfterError(json ? false : HELP_HINT)
    .configureOutput(json ? { outputError: usageErrorAsJson } : {})
    .exitOverride(({ exitCode }) => {
      if (exitCode === 0) process.exit(0);
      const note = new NotOnPathNote();
      note.recordHints(HELP_HINT);
      if (!json) printNotOnPathNote(note, places, command.opts());
      process.exit(EXIT_USAGE);
    })
    .usage('[options] [command]')
    .allowExcessArguments()
    .configureHelp(helpFormat(process.stdout))
    .action(async (flags: Record<string, unknown>, { args }: Command) => {
      const [unknown] = args;
      if (unknown !== undefined) {
        const meant = COMMANDS_BY_OTHER_NAME.get(unknown);
        if (meant !== undefined)
          command.error(`error: unknown command '${unknown}'\n(Did you mean ${meant}?)`);
        refuseUnknownCommand(command, unknown);
      }
      await serve(flags);
    });
  const unflagged = Object.values(UNFLAGGED_BRIDGE_SETTINGS).map(
    (it) => `  ${it.env}: ${it.describe} (${it.allowed})`,
  );
  addServeFlags(command);
  addCommands(command, places);
  if (!json) pointToOwnHelp(command);
  const codes = EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(2)}  ${meaning}`);
  return command.addHelpText('after', () =>
    wrapHelpText(
      `\nA flag overrides its environment variable (in parentheses). The variable overrides the section "bridge" of the\nconfiguration file, and the file overrides the default. Settings without a flag:\n${unflagged.join('\n')}\n\nExit codes:\n${codes.join('\n')}`,
    ),
  );
}

/** Names that a person may try, and the commands for them. Similar names are found without this list. */
const COMMANDS_BY_OTHER_NAME: ReadonlyMap<string, string> = new Map([
  ['accept', 'approve'],
  ['decide', 'approve or deny'],
  ['reject', 'deny'],
  ['list', 'tasks'],
  ['ls', 'tasks'],
  ['sessions', 'tasks'],
  ['status', 'tasks or server status'],
  ['start', 'server start'],
  ['stop', 'cancel, abort or server stop'],
  ['restart', 'server stop'],
  ['delegate', 'run'],
  ['open', 'page'],
  ['web', 'page'],
]);

/** Prints a usage error as JSON, like every other failure. */
function usageErrorAsJson(text: string): void {
  const message = text.trim().replace(/^error: /, '');
  process.stdout.write(`${JSON.stringify({ error: { reason: 'USAGE', message, facts: {} } })}\n`);
}
