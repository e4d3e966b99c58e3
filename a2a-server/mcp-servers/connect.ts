/**
 * Connects to an MCP server, and finds its transport and its revision of MCP.
 *
 * - The client probes with `server/discover`, and falls back to `initialize` (MCP 2026-07-28, Versioning).
 * - If a server refuses a POST with 400, 404 or 405, the client tries the older transport HTTP+SSE (MCP 2025-11-25,
 *   Transports, Backwards Compatibility).
 */
import { Client } from '@modelcontextprotocol/client';
import { onAbort } from '../../shared/runtime/abort.ts';
import { startTimeout, type Timeout } from '../runtime/timeout.ts';
import { readPackageVersion } from '../../shared/runtime/version.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';
import {
  classifyConnectError,
  firstConnectAttempt,
  nextConnectAttempt,
  type ConnectAttempt,
} from './transport-and-handshake.ts';
import { McpServerConnection, mcpErrorLine, type McpServerConnectionOptions } from './connection.ts';
import { elicitationSchema } from './elicitation.ts';
import { RunningMcpCalls } from './running-calls.ts';
import { isRemoteServer, type McpServerConfig } from './server-settings.ts';
import { McpHttpTransport } from './transports/http-transport.ts';
import type { McpTransport, McpTransportContext } from './transports/server-transport.ts';
import { McpSseTransport } from './transports/sse-transport.ts';
import { McpStdioTransport } from './transports/stdio-transport.ts';

/** The time limit of a probe. Without an answer, the client assumes an older revision. */
const PROBE_MS = { stdio: 5_000, http: 15_000, sse: 0 } as const;
/** The SDK's own timeout is `connectMs` plus this margin. So `connectMs` always ends the handshake first. */
const MARGIN_MS = 30_000;

interface McpConnectResult {
  connection: McpServerConnection;
  /** The attempt that succeeded. The next connection begins with it. */
  attempt: ConnectAttempt;
}

/**
 * Connects to a server. After a failure, no socket or process stays open.
 * @param known the transport and handshake of the last successful connection
 * @throws Error whose message is a sentence without subject and full stop
 */
export async function connectToMcpServer(
  entry: McpServerConfig,
  options: McpServerConnectionOptions,
  known?: ConnectAttempt,
): Promise<McpConnectResult> {
  const { clock, connectMs, signal, log } = options;
  const limit = startTimeout(clock, connectMs, signal);
  const problems = new Map<ConnectAttempt['transport'], string>();
  try {
    for (let attempt: ConnectAttempt | undefined = known ?? firstConnectAttempt(entry); ;) {
      try {
        const connection = await connectOnce(entry, attempt, { options, limit });
        log.debug({ ...attempt, revision: connection.revision }, 'connected to an MCP server');
        return { connection, attempt };
      } catch (error) {
        if (!(error instanceof AttemptFailedError)) throw error;
        problems.set(attempt.transport, error.message);
        const next: ConnectAttempt | undefined = limit.signal.aborted
          ? undefined
          : nextConnectAttempt(attempt, classifyConnectError(error.cause));
        if (next === undefined) throw new Error(problemOf(problems, limit, options), { cause: error });
        log.debug(
          { ...attempt, problem: error.message, next },
          'an MCP server needs another transport or revision',
        );
        attempt = next;
      }
    }
  } finally {
    limit.clear();
  }
}

class AttemptFailedError extends Error {}

async function connectOnce(
  entry: McpServerConfig,
  attempt: ConnectAttempt,
  { options, limit }: { options: McpServerConnectionOptions; limit: Timeout },
): Promise<McpServerConnection> {
  const { connectMs, signal } = options;
  const transport = transportTo(entry, attempt, options);
  const client = clientFor(attempt, options);
  const calls = new RunningMcpCalls(transport, options.clock);
  let connection: McpServerConnection | undefined;
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    // No call runs before the end of the handshake, so no person can answer.
    if (connection === undefined) return { action: 'cancel' };
    return connection.elicit(elicitationSchema.parse(params), mcpReq.signal);
  });
  const stopListening = onAbort(limit.signal, () => void transport.close());
  try {
    signal.throwIfAborted();
    await client.connect(transport, { timeout: connectMs + MARGIN_MS });
  } catch (error) {
    await transport.close();
    const { trouble } = transport;
    const why = trouble ?? (limit.expired() ? '' : mcpErrorLine(classifyConnectError(error).cause ?? error));
    throw new AttemptFailedError(why, { cause: error });
  } finally {
    stopListening();
  }
  connection = new McpServerConnection({ client, transport, calls }, options);
  return connection;
}

function transportTo(
  entry: McpServerConfig,
  { transport }: ConnectAttempt,
  context: McpTransportContext,
): McpTransport {
  if (!isRemoteServer(entry)) return new McpStdioTransport(entry, context);
  const url = new URL(entry.url);
  return transport === 'sse'
    ? new McpSseTransport(url, entry.headers, context.clock)
    : new McpHttpTransport(url, entry.headers, context.clock);
}

function clientFor(
  attempt: ConnectAttempt,
  { onListChanged, log, connectMs }: McpServerConnectionOptions,
): Client {
  const timeoutMs = Math.min(PROBE_MS[attempt.transport], connectMs / 2);
  const client = new Client(
    { name: 'mcp-a2a-bridge', version: readPackageVersion() },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      ...(attempt.handshake === 'probe' && { versionNegotiation: { mode: 'auto', probe: { timeoutMs } } }),
    },
  );
  client.setNotificationHandler('notifications/tools/list_changed', onListChanged);
  // The SDK must not handle these notifications, because RunningMcpCalls reads them directly from the transport.
  client.setNotificationHandler('notifications/progress', () => undefined);
  client.setNotificationHandler('notifications/message', () => undefined);
  const onerror = (error: Error): void =>
    log.debug({ problem: oneLineExcerpt(error.message, 300) }, 'an MCP server connection reported an error');
  return Object.assign(client, { onerror });
}

function problemOf(
  problems: ReadonlyMap<ConnectAttempt['transport'], string>,
  limit: Timeout,
  { connectMs }: Pick<McpServerConnectionOptions, 'connectMs'>,
): string {
  const late = limit.expired() ? `did not answer within ${connectMs / 1000} s` : '';
  const known = [...problems].map(([transport, why]) => {
    return transport === 'sse' && problems.size > 1 && why !== '' ? `over HTTP+SSE: ${why}` : why;
  });
  return [late, ...known].filter((why) => why !== '').join('; ');
}
