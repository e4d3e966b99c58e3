#!/usr/bin/env node
/** The command `mcp-a2a-bridge`. Without arguments it serves MCP over stdio, with settings from the environment. */
import { fileURLToPath } from 'node:url';
import { messageOf, ProductError } from '../shared/runtime/errors.ts';
import { CHILD_MARKER, hideEnvironment } from '../shared/runtime/hide-environment.ts';
import { consoleToLog, createLogger } from '../shared/runtime/logging.ts';
import { EXIT_CONFIGURATION, EXIT_FAILURE } from './cli/terminal/exit-codes.ts';
import type { ProgramPaths } from './settings/program-paths.ts';
import { readBridgeSettings } from './settings/settings.ts';
import { serve } from './startup/serve.ts';

// Runs before everything else. Otherwise a shell command of the agent could read the bridge's secrets from /proc.
hideEnvironment((name) => name === CHILD_MARKER);

// The built server and the built card are next to the built bridge.
const places: ProgramPaths = {
  bridgeScript: fileURLToPath(import.meta.url),
  serverScript: fileURLToPath(new URL('../a2a-server/main.js', import.meta.url)),
  cardFile: fileURLToPath(new URL('../web/card.html', import.meta.url)),
};

async function start(flags: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    const settings = await readBridgeSettings(flags, process.env);
    const log = createLogger({ name: 'mcp-a2a-bridge', level: settings.logLevel });
    consoleToLog(log);
    // An unhandled rejection affects at most one call. Other calls continue.
    process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
    process.on('uncaughtException', (error) => {
      log.fatal({ err: error }, 'uncaught error');
      process.exit(EXIT_FAILURE);
    });
    await serve({ settings, places, log });
  } catch (error) {
    process.stderr.write(`mcp-a2a-bridge: ${messageOf(error)}\n`);
    process.exit(
      error instanceof ProductError && error.reason === 'CONFIGURATION' ? EXIT_CONFIGURATION : EXIT_FAILURE,
    );
  }
}

// Clients usually start the bridge without arguments. So the argument parser loads only if there are arguments.
void (process.argv.length <= 2
  ? start({})
  : import('./cli/program.ts').then(({ program }) => program(start, places).parseAsync()));
