/** The command line of `mcp-a2a-bridge`. */
import { Command } from 'commander';
import { addFlags } from '../../shared/flags.ts';
import { packageVersion } from '../../shared/version.ts';
import { EXIT_CONFIGURATION, EXIT_FAILURE, EXIT_USAGE } from './exit-codes.ts';
import { BRIDGE_SETTINGS, PLACE_FLAGS, UNFLAGGED_SETTINGS } from './settings.ts';

/** @param serve what runs without a sub-command */
export function program(serve: (flags: Record<string, unknown>) => Promise<void>): Command {
  const command = new Command('mcp-a2a-bridge')
    .description(
      'Serves MCP, over stdio and if told so over HTTP: hand work to an A2A agent, approve each risky step, walk away, come back, lose nothing.',
    )
    .version(packageVersion())
    .showHelpAfterError('(mcp-a2a-bridge --help lists the options)')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE))
    .action(serve);
  for (const { flag, describe } of PLACE_FLAGS) command.option(flag, describe);
  const unflagged = Object.values(UNFLAGGED_SETTINGS).map(
    (it) => `  ${it.env}: ${it.describe} (${it.allowed})`,
  );
  addFlags(command, BRIDGE_SETTINGS);
  command.option('--no-auto-start', 'the same as --auto-start=no');
  command.option('--no-stdio', 'the same as --stdio=no; for a bridge that runs as a service, with --http');
  return command.addHelpText(
    'after',
    `\nA flag wins over its environment variable (in parentheses), that over the "bridge" section of the configuration\nfile, that over the default. Without a flag:\n${unflagged.join('\n')}\n\nExit codes: ${String(EXIT_USAGE)} for a command line that is not understood, ${String(EXIT_CONFIGURATION)} for settings that cannot work, ${String(EXIT_FAILURE)} for other failures.`,
  );
}
