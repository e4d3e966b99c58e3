/**
 * Runs the bridge's HTTP server. It listens only on loopback, because a client with the token can run commands on this
 * machine.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { closeHttpServer } from '../../../shared/net/close-http-server.ts';
import { watchWritten } from '../../../shared/net/written-response.ts';
import { errorMessageOf, ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { TCP_KEEP_ALIVE } from '../../../shared/net/tcp-keep-alive.ts';
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import { readOrCreateTokenFile, tokenPath } from '../../../shared/state/token-file.ts';
import type { ClientConnection } from '../../sessions/delegating-clients.ts';
import type { ServedMcpClient } from '../../mcp/tool/tool-serving-context.ts';
import { ABORT_PATH_PREFIX, answerAbortRequest, toolIdInPath, type AbortTool } from './abort-route.ts';
import { isPreflight, corsHeaders, preflightOnlyHeaders } from './cors.ts';
import { checkHostAndOrigin, checkBearerToken, type HttpAccessRules } from './check-access.ts';
import type { HttpExchangeEnd } from './http-sent-replies.ts';
import { MCP_SESSION_HEADER } from './mcp-sessions.ts';
import { type McpEndpoint, createMcpEndpoint, type LoggedMessageFacts } from './mcp-endpoint.ts';
import { rpcErrorResponse } from './rpc-error.ts';
import { writeResponse } from './write-response.ts';

const HOST = '127.0.0.1';
const PATH = '/mcp';
const METHODS: readonly string[] = ['POST', 'GET', 'DELETE'];
const MAX_CONNECTIONS = 512;
/** The value of `Retry-After` in seconds, in responses during a restart. */
const RETRY_AFTER_SECONDS = 2;

export interface RunningHttpServer {
  url: string;
  tokenPath: string;
  /** Refuses new requests, and ends all MCP sessions and streams. A second call does nothing. */
  stop(): Promise<void>;
}

interface ServeHttpOptions {
  /** The port. 0 means any free port. */
  port: number;
  stateDir: string;
  origins: readonly string[];
  serve: (client: ServedMcpClient) => McpServer;
  abortTool: AbortTool;
  onLeft: (connection: ClientConnection) => void;
  log: Logger;
}

/**
 * Starts the HTTP server of the bridge.
 * @throws ProductError CONFIGURATION if the port or the state directory cannot be used
 */
export async function serveHttp({
  port,
  stateDir,
  origins,
  serve,
  abortTool,
  onLeft,
  log,
}: ServeHttpOptions): Promise<RunningHttpServer> {
  await prepareStateDirectory(stateDir);
  const access: HttpAccessRules = {
    token: await readOrCreateTokenFile(stateDir, 'http-token'),
    tokenPath: tokenPath(stateDir, 'http-token'),
    origins,
  };
  const endpoint = createMcpEndpoint({ serve, onLeft, log });
  let closing = false;
  const server = createServer(TCP_KEEP_ALIVE, (request, response) => {
    const since = performance.now();
    let about: RequestFacts = {};
    response.on('error', () => undefined);
    const isWritten = watchWritten(response);
    // Logs the end of the request. During shutdown, also closes the connection after its last response. The listener
    // waits for `close`, because only then Node marks the connection as idle.
    response.once('close', () => {
      const { method, headers } = request;
      const end = isWritten() ? 'answered' : 'client-gone';
      log.debug(
        {
          method,
          path: pathOf(request),
          mcpSession: headers[MCP_SESSION_HEADER],
          status: response.statusCode,
          ...about,
          reason: closing ? 'bridge-shutdown' : end,
          ms: Math.round(performance.now() - since),
        },
        'a request is closed',
      );
      if (closing) setImmediate(() => server.closeIdleConnections());
    });
    const concerns = (facts: typeof about): void => void (about = { ...about, ...facts });
    respond(request, response, { access, endpoint, abortTool, closing, concerns, isWritten }).catch(
      (error: unknown) => {
        log.error({ err: error }, 'an HTTP request failed');
        response.destroy();
      },
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  const url = `http://${HOST}:${String(await listen(server, port))}${PATH}`;
  const stop = async (): Promise<void> => {
    closing = true;
    await endpoint.close();
    await closeHttpServer(server);
  };
  let stopped: Promise<void> | undefined;
  return { url, tokenPath: access.tokenPath, stop: () => (stopped ??= stop()) };
}

/** What the log line of a request contains besides its method. */
interface RequestFacts extends LoggedMessageFacts {
  toolId?: string;
  mcpSession?: string;
}

interface RequestHandlingParts {
  access: HttpAccessRules;
  endpoint: McpEndpoint;
  abortTool: AbortTool;
  closing: boolean;
  concerns: (facts: RequestFacts) => void;
  /** Returns true after the response was written completely. */
  isWritten: () => boolean;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  inside: RequestHandlingParts,
): Promise<void> {
  const { headers } = request;
  const outside = checkHostAndOrigin(headers, inside.access);
  if (outside !== undefined) return refuse(response, outside, {});
  const forPage = corsHeaders(headers);
  if (isPreflight(request.method, headers)) {
    response.writeHead(204, { ...forPage, ...preflightOnlyHeaders(headers) }).end();
    return;
  }
  const refused = checkBearerToken(headers, inside.access);
  if (refused !== undefined) {
    // RFC 6750 §3: a response with the status 401 names the authentication scheme.
    const challenge = { 'WWW-Authenticate': 'Bearer realm="mcp-a2a-bridge"' };
    return refuse(response, { ...refused, headers: challenge }, forPage);
  }
  if (inside.closing) {
    const again = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
    return refuse(response, { status: 503, message: 'The bridge is ending.', headers: again }, forPage);
  }
  const path = pathOf(request);
  const toolId = toolIdInPath(path);
  if (toolId !== undefined) {
    inside.concerns({ toolId: toolId.slice(0, 200) });
    const answer = await answerAbortRequest(webRequest(request), toolId, inside.abortTool);
    return writeResponse(response, answer, forPage);
  }
  if (path !== PATH) {
    const message = `There is nothing here: MCP is at ${PATH}, and POST ${ABORT_PATH_PREFIX}<toolId> aborts a tool.`;
    return refuse(response, { status: 404, message }, forPage);
  }
  await writeResponse(response, await answerOf(request, response, inside), forPage);
}

async function answerOf(
  request: IncomingMessage,
  response: ServerResponse,
  { endpoint, concerns, isWritten }: RequestHandlingParts,
): Promise<Response> {
  const { method = '' } = request;
  if (!METHODS.includes(method)) {
    const headers = { Allow: METHODS.join(', ') };
    return rpcErrorResponse(405, `MCP takes ${METHODS.join(', ')}.`, { headers });
  }
  const gone = new AbortController();
  const end = (): HttpExchangeEnd => {
    gone.abort();
    return isWritten() ? 'answered' : 'cut';
  };
  const over = once(response, 'close').then(end, end);
  const answer = await endpoint.answer(webRequest(request, gone.signal), { over, onMessage: concerns });
  // The response to `initialize` starts an MCP session. The log line contains its id.
  const mcpSession = answer.headers.get(MCP_SESSION_HEADER);
  if (mcpSession !== null) concerns({ mcpSession });
  return answer;
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

/** Converts the request for the MCP SDK, without reading its body. */
function webRequest(request: IncomingMessage, signal?: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headersDistinct))
    for (const each of value ?? []) headers.append(name, each);
  const { method = '' } = request;
  const body = method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' as const } : {};
  return new Request(`http://${HOST}${PATH}`, { method, headers, ...(signal && { signal }), ...body });
}

/**
 * Refuses a request without reading its body. The connection is closed after the response, because it still contains
 * the unread body.
 */
function refuse(
  response: ServerResponse,
  { status, message, headers = {} }: { status: number; message: string; headers?: Record<string, string> },
  forPage: Readonly<Record<string, string>>,
): Promise<void> {
  const answer = rpcErrorResponse(status, message, { headers });
  return writeResponse(response, answer, { ...forPage, Connection: 'close' });
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    server.listen({ host: HOST, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    const problem =
      errorCode(error) === 'EADDRINUSE'
        ? 'another program listens there, perhaps another bridge'
        : errorMessageOf(error);
    throw new ProductError(
      'CONFIGURATION',
      `The bridge cannot serve MCP at port ${String(port)} of ${HOST}: ${problem}. Choose another port with --http.`,
      { facts: { port: String(port) }, cause: error },
    );
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
