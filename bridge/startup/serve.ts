/** Runs the bridge over stdio, over HTTP, or both. B2: with stdio, stdout carries only MCP messages. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { resolve } from 'node:path';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import {
  STATE_DIRECTORY_VARIABLE,
  stateDirectory,
  hostEnvironment,
} from '../../shared/state/state-directory.ts';
import { readPackageVersion } from '../../shared/runtime/version.ts';
import type { BridgeContext } from '../mcp/bridge-context.ts';
import type { BuiltProgramPaths } from '../settings/program-paths.ts';
import type { BridgeSettings } from '../settings/settings.ts';
import type { RunningHttpServer } from '../transports/http/serve-http.ts';
import { SeenResults } from '../mcp/tool/seen-results.ts';
import type { ClientConnection } from '../sessions/delegating-clients.ts';
import { OrderedSentReplies } from '../sessions/replies-not-confirmed-by-client.ts';
import { createMcpServer } from '../mcp/server/mcp-server.ts';
import type { McpServerOptions, ServedMcpClient } from '../mcp/tool/tool-serving-context.ts';
import { abortToolExecution } from '../sessions/abort-tool-execution.ts';
import { callSpansFromEnvironment } from '../telemetry/call-spans.ts';
import { mayEarlierBridgeHaveLeftWork } from '../state/may-earlier-bridge-have-left-work.ts';
import { StdioTransport } from '../transports/stdio/stdio-transport.ts';
import { TaskSubscriptionTransport } from '../mcp/tasks/task-subscription-transport.ts';
import { ClientFollowedTasks } from '../sessions/client-followed-tasks.ts';
import { watchMcpTask } from '../mcp/tasks/watch-task.ts';
import type { ToolName } from '../tool-names/tool-names.ts';
import { CancelledMcpCalls } from '../mcp/cancelled-calls/cancelled-calls.ts';

/**
 * The maximum time in milliseconds for which the shutdown waits for outbox writes. The next bridge does the remaining
 * writes.
 */
const MAX_WAIT_FOR_WRITES_MS = 2_000;

interface ServeOptions {
  settings: BridgeSettings;
  places: BuiltProgramPaths;
  log: Logger;
}

/**
 * Serves until a signal arrives, or until the stdio client closes stdin. E4: a lost connection stops no task, so the
 * tasks continue then. The only exception: with `onDisconnect: cancel`, the tasks of the client that has left are
 * cancelled. HTTP clients and the stdio client share the agents, the sessions and the outbox.
 * @throws ProductError CONFIGURATION if only HTTP is served, and the HTTP server cannot start
 */
export async function serveMcp({ settings, places, log }: ServeOptions): Promise<void> {
  const version = readPackageVersion();
  const { toolPrefix: prefix, stdio, approvals, onCancel, onDisconnect, preview: draftProtocols } = settings;
  const { cardFile, serverScript } = places;
  const { open: bridge, opened } = openAtFirstUse(async () => {
    const { openBridge } = await import('./open-bridge.ts');
    const program = await programLine(settings, places);
    return openBridge({ settings, env: process.env, serverScript, program, log, version });
  });
  const spans = await callSpansFromEnvironment(process.env, log);
  const parts = { version, prefix, log, onCancel, approvals, draftProtocols, cardFile, spans, bridge };

  // In print mode, Claude Code answers forms without a person, and refuses tools that must ask a person.
  const unattended = process.env['CLAUDE_CODE_ENTRYPOINT'] === 'sdk-cli';
  const client = {
    connection: { isDisconnected: false },
    withdrawals: new CancelledMcpCalls(),
    receipts: new OrderedSentReplies(),
    seen: new SeenResults(),
    followed: new ClientFollowedTasks(),
    unattended,
  };
  let ending = false;
  let http: Promise<RunningHttpServer | undefined> = Promise.resolve(undefined);
  const clientLeft = async (left: ClientConnection): Promise<void> => {
    if (onDisconnect === 'cancel') await (await opened())?.clientTasks.handleDisconnect(left);
  };
  const end = async (why: string, left?: ClientConnection): Promise<void> => {
    if (ending) return;
    ending = true;
    log.info({ why }, 'the bridge ends');
    setTimeout(() => process.exit(0), MAX_WAIT_FOR_WRITES_MS);
    client.receipts.confirm();
    if (left !== undefined) await clientLeft(left);
    const run = await http.catch(() => undefined);
    await run?.stop();
    const running = await opened();
    running?.delegations.release();
    await running?.delegations.settled();
    running?.close();
    await spans?.close().catch(() => undefined);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(signal));
  // SIGHUP means that the terminal was closed. A bridge on stdio then ends. A bridge with only HTTP continues.
  process.on('SIGHUP', () => stdio && void end('SIGHUP'));

  if (stdio) {
    serveOverStdio(parts, client);
    log.debug({ version, state: settings.stateDir }, 'serving MCP over stdio');
    const closed = `the client closed stdin${settings.http === undefined ? '' : '; to serve HTTP without a client on stdin, use --no-stdio'}`;
    process.stdin.once('end', () => void end(closed, client.connection));
    process.stdin.once('close', () => void end(closed, client.connection));
  }
  if (settings.http !== undefined) http = serveOverHttp(settings.http, { settings, parts, clientLeft });
  void openBridgeForOrphanedWork(settings, bridge);
  if (stdio) {
    // An HTTP error must not end the bridge, because the stdio client still works. Several bridges may have the same
    // port in their settings.
    http.catch((error: unknown) =>
      log.error({ problem: errorMessageOf(error) }, 'MCP is not served over HTTP'),
    );
    return;
  }
  const run = await http;
  if (run !== undefined)
    process.stdout.write(`mcp-a2a-bridge ${version} serves MCP at ${run.url} (token in ${run.tokenPath})\n`);
}

/**
 * Opens the services at the first call of `open`, and only once. After a failure, the next call tries again. `opened`
 * returns undefined if the services are not open.
 */
function openAtFirstUse(open: () => Promise<BridgeContext>): {
  open: () => Promise<BridgeContext>;
  opened: () => Promise<BridgeContext | undefined>;
} {
  let services: Promise<BridgeContext> | undefined;
  return {
    open: () =>
      (services ??= open().catch((error: unknown) => {
        services = undefined;
        throw error;
      })),
    opened: async () => services?.catch(() => undefined),
  };
}

async function programLine(
  { stateDir, configFile, agentUrl }: BridgeSettings,
  { bridgeScript }: BuiltProgramPaths,
): Promise<string> {
  const { bridgeCommandLine } = await import('../../shared/settings/bridge-command-line.ts');
  const { [STATE_DIRECTORY_VARIABLE]: _, ...env } = process.env;
  const usual = resolve(stateDirectory({ ...hostEnvironment(), env }));
  return bridgeCommandLine(
    { script: bridgeScript, started: process.argv[1], path: process.env['PATH'] },
    { stateDir: stateDir === usual ? undefined : stateDir, configFile, agentUrl },
  );
}

function serveOverStdio(
  parts: McpServerOptions,
  client: ServedMcpClient & { followed: ClientFollowedTasks },
): void {
  const { log, bridge, prefix } = parts;
  const name = (tool: ToolName): string => `${prefix}${tool}`;
  serveStdio(() => createMcpServer(parts, client), {
    transport: new TaskSubscriptionTransport(
      new StdioTransport(process.stdin, process.stdout, log),
      (taskId, push, opensUrls) =>
        watchMcpTask(taskId, { bridge, name, push, opensUrls, followed: client.followed }),
    ),
    onerror: (error) => log.warn({ err: error }, 'the MCP connection'),
  });
}

async function serveOverHttp(
  port: number,
  {
    settings: { stateDir, httpAllowOrigin },
    parts,
    clientLeft,
  }: {
    settings: BridgeSettings;
    parts: McpServerOptions;
    clientLeft: (connection: ClientConnection) => Promise<void>;
  },
): Promise<RunningHttpServer> {
  // The HTTP modules are imported only here, so that a client on stdin need not wait for them.
  const { serveHttp } = await import('../transports/http/serve-http.ts');
  const run = await serveHttp({
    port,
    stateDir,
    origins: httpAllowOrigin,
    serve: (client) => createMcpServer(parts, client),
    onLeft: (connection) => void clientLeft(connection),
    abortTool: async (request) => abortToolExecution(await parts.bridge(), request),
    log: parts.log,
  });
  parts.log.info({ url: run.url, tokenFile: run.tokenPath }, 'serving MCP over HTTP');
  return run;
}

/**
 * Opens the bridge's services immediately if an earlier bridge left unfinished work. Otherwise the first tool call
 * opens them. B3: a killed bridge loses nothing.
 */
async function openBridgeForOrphanedWork(
  settings: BridgeSettings,
  bridge: () => Promise<BridgeContext>,
): Promise<void> {
  if (!(await mayEarlierBridgeHaveLeftWork(settings.stateDir))) return;
  const { hasOrphanedWork } = await import('../state/has-orphaned-work.ts');
  // If the database cannot be opened, the first tool call reports the error.
  if (await hasOrphanedWork(settings.stateDir).catch(() => false)) await bridge().catch(() => undefined);
}
