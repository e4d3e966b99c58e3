/** Defines the arguments with which the bridge serves MCP, and checks them without starting a bridge. */
import { Command, CommanderError } from 'commander';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { SETTINGS_HEADING } from '../../shared/runtime/help-command.ts';
import { addSettingFlags } from '../../shared/settings/add-flags.ts';
import { resolveSettings } from '../../shared/settings/resolve-settings.ts';
import { locateSettings } from '../../shared/settings/settings-location.ts';
import { BRIDGE_SETTINGS, BRIDGE_LOCATION_FLAGS } from './settings.ts';

/** Adds the flags with which the bridge serves MCP. */
export function addServeFlags(command: Command): Command {
  command.optionsGroup(SETTINGS_HEADING);
  for (const { flag, describe } of BRIDGE_LOCATION_FLAGS) command.option(flag, describe);
  return addSettingFlags(command, BRIDGE_SETTINGS)
    .option('--no-auto-start', 'the same as --auto-start=no')
    .option('--no-stdio', 'the same as --stdio=no; for a bridge that runs as a service, with --http');
}

/**
 * Returns the flags, if all arguments are flags with which the bridge serves MCP. Otherwise returns undefined: the
 * arguments name a command, ask for help, or are not valid. `createBridgeCommandLine` then parses them.
 */
export function serveFlags(args: readonly string[]): Record<string, unknown> | undefined {
  try {
    return flagParser().parse(args, { from: 'user' }).opts();
  } catch {
    return undefined;
  }
}

/** Returns a parser that throws an error for each argument that is not a flag of `addServeFlags`. It prints nothing. */
function flagParser(): Command {
  return addServeFlags(new Command('mcp-a2a-bridge'))
    .helpOption(false)
    .allowExcessArguments(false)
    .configureOutput({ writeErr: () => undefined })
    .exitOverride();
}

/**
 * Returns why the bridge would not start with these arguments, or undefined if it would. Checks the flags and their
 * values. If an argument contains `${…}`, a client may replace that part, so no value is checked.
 */
export function serveArgumentsProblem(args: readonly string[]): string | undefined {
  const command = flagParser();
  try {
    command.parse(args, { from: 'user' });
    if (args.some((each) => each.includes('${'))) return undefined;
    const { flags } = locateSettings(command.opts(), {});
    resolveSettings(BRIDGE_SETTINGS, { flags, env: {}, file: { path: '', values: {} } });
    return undefined;
  } catch (error) {
    const message = errorMessageOf(error);
    return error instanceof CommanderError ? message.replace(/^error: /, '').replaceAll('\n', ' ') : message;
  }
}
