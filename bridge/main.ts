#!/usr/bin/env node
/**
 * The program `mcp-a2a-bridge`. Without arguments, it serves MCP over stdio, and reads its settings from the
 * environment and the configuration file.
 */
import { fileURLToPath } from 'node:url';
import { errorMessageOf, ProductError } from '../shared/runtime/errors.ts';
import { CHILD_MARKER, hideProcEnviron } from '../shared/runtime/hide-proc-environ.ts';
import { consoleToLog, createLogger } from '../shared/runtime/logging.ts';
import { endOnUncaughtError, createStderrReport } from '../shared/runtime/uncaught-error.ts';
import { escapeHiddenCharacters } from '../shared/text/visible-text.ts';
import { EXIT_CONFIGURATION, EXIT_FAILURE } from '../shared/runtime/exit-codes.ts';
import type { BuiltProgramPaths } from './settings/program-paths.ts';
import { readBridgeSettings } from './settings/settings.ts';

// The program hides its environment before it does anything else. Otherwise a shell command of the agent could read the
// bridge's secrets in /proc.
hideProcEnviron((name) => name === CHILD_MARKER);

endOnUncaughtError('mcp-a2a-bridge', createStderrReport('MCP_A2A_BRIDGE_LOG_LEVEL'));

// The paths of the built files. The built server and the built card are beside the built bridge.
const places: BuiltProgramPaths = {
  bridgeScript: fileURLToPath(import.meta.url),
  serverScript: fileURLToPath(new URL('../a2a-server/main.js', import.meta.url)),
  cardFile: fileURLToPath(new URL('../web/card.html', import.meta.url)),
};

async function start(flags: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    const settings = await readBridgeSettings(flags, process.env);
    const log = createLogger({ name: 'mcp-a2a-bridge', level: settings.logLevel });
    consoleToLog(log);
    // An unhandled rejection affects at most one tool call. So it is only logged, and the other tool calls continue.
    process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
    endOnUncaughtError('mcp-a2a-bridge', {
      more: 'The log has the stack trace. Tasks continue.',
      log: (error) => log.fatal({ err: error }, 'uncaught error'),
    });
    if (settings.stdio && process.stdin.isTTY)
      process.stderr.write(
        'mcp-a2a-bridge: Waits for an MCP client. Ctrl-C ends it.\nThe commands for a person: mcp-a2a-bridge --help\n',
      );
    const { serveMcp } = await import('./startup/serve.ts');
    await serveMcp({ settings, places, log });
  } catch (error) {
    const lines = errorMessageOf(error).split('\n').map(escapeHiddenCharacters);
    process.stderr.write(`mcp-a2a-bridge: ${lines.join('\n')}\n`);
    process.exit(
      error instanceof ProductError && error.reason === 'CONFIGURATION' ? EXIT_CONFIGURATION : EXIT_FAILURE,
    );
  }
}

/** A command needs no MCP, and a bridge that serves an MCP client needs no commands. So each loads only its own part. */
async function run(args: readonly string[]): Promise<void> {
  const flags = args.length === 0 ? {} : (await import('./settings/serve-arguments.ts')).serveFlags(args);
  if (flags !== undefined) return start(flags);
  const { createBridgeCommandLine } = await import('./cli/program.ts');
  await createBridgeCommandLine(start, places).parseAsync();
}

void run(process.argv.slice(2));
