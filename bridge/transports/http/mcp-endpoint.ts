/** Serves MCP over Streamable HTTP at one URL: the revision 2026-07-28 and every older revision, as over stdio. */
import {
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isLegacyRequest,
} from '@modelcontextprotocol/server';
import type { McpRequestContext, McpServer, RequestId } from '@modelcontextprotocol/server';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { ClientConnection } from '../../sessions/delegating-clients.ts';
import type { ServedMcpClient } from '../../mcp/tool/tool-serving-context.ts';
import { CancelledMcpCalls } from '../../mcp/cancelled-calls/cancelled-calls.ts';
import {
  declaredTasks,
  missingTasksError,
  parseTaskSubscription,
} from '../../mcp/tasks/parse-task-subscription.ts';
import { DEFAULT_MCP_SESSION_LIMITS, McpSessions, type McpSessionLimits } from './mcp-sessions.ts';
import { type HttpExchangeEnd, HttpSentReplies } from './http-sent-replies.ts';
import { NO_BODY, readJsonBody } from './json-body.ts';

export interface LoggedMessageFacts {
  operation?: string;
  requestId?: RequestId;
}

interface ReceivedRequest {
  /** Resolves when the response is written, or when the client has disconnected. */
  over: Promise<HttpExchangeEnd>;
  onMessage: (facts: LoggedMessageFacts) => void;
}

export interface McpEndpoint {
  answer(request: Request, received: ReceivedRequest): Promise<Response>;
  /** Ends every MCP session and every open request. Tasks continue. */
  close(): Promise<void>;
}

interface McpEndpointOptions {
  serve: (client: ServedMcpClient) => McpServer;
  /** Called when a client ends its MCP session. */
  onLeft: (connection: ClientConnection) => void;
  log: Logger;
  limits?: McpSessionLimits;
}

export function createMcpEndpoint({
  serve,
  onLeft,
  log,
  limits = DEFAULT_MCP_SESSION_LIMITS,
}: McpEndpointOptions): McpEndpoint {
  const sessions = new McpSessions({ serve, onLeft }, limits);
  // In MCP 2026-07-28, requests do not identify their client. So a cancelled tool call is reported in the reply to the
  // next tool call of any client.
  const client = {
    connection: { isDisconnected: false },
    withdrawals: new CancelledMcpCalls(),
    followed: undefined,
    seen: undefined,
    unattended: false,
  };
  /**
   * The replies to each request. In MCP 2026-07-28, no later request shows that the client has received a reply. So a
   * reply counts as received when its response was written completely.
   */
  const answers = new WeakMap<Request, HttpSentReplies>();
  const receiptsOf = (request: Request | undefined): HttpSentReplies =>
    (request === undefined ? undefined : answers.get(request)) ?? new HttpSentReplies();
  const serveOne = ({ requestInfo }: McpRequestContext): McpServer =>
    serve({ ...client, receipts: receiptsOf(requestInfo) });
  const handler = createMcpHandler(serveOne, {
    legacy: 'reject',
    onerror: (error) => log.debug({ err: error }, 'MCP request over HTTP'),
  });
  return {
    async answer(request, { over, onMessage }) {
      const read = request.method === 'POST' ? await readJsonBody(request) : NO_BODY;
      if (read.type === 'refused') return read.response;
      const { body } = read;
      onMessage(factsOf(body));
      if (await isLegacyRequest(request, body)) return sessions.answer({ request, body, over });
      const subscription = parseTaskSubscription(body);
      // A client that does not declare the tasks extension must get an error. The SDK ignores `taskIds`, so it would
      // accept the subscription.
      if (subscription !== undefined && declaredTasks(subscription.params) === undefined)
        return Response.json(missingTasksError(subscription.id), { status: 400 });
      const receipts = new HttpSentReplies();
      answers.set(request, receipts);
      void over.then((end) => end === 'answered' && recordRequest(receipts, body));
      return handler.fetch(request, body === undefined ? {} : { parsedBody: body });
    },
    async close() {
      sessions.close();
      await handler.close();
    },
  };
}

function recordRequest(receipts: HttpSentReplies, body: unknown): void {
  receipts.confirm();
  if (isJSONRPCRequest(body)) receipts.written(body.id);
}

/** Returns the method and the id of a message for the log. They are shortened, because the client chooses them. */
function factsOf(body: unknown): LoggedMessageFacts {
  if (isJSONRPCNotification(body)) return { operation: body.method.slice(0, 100) };
  if (!isJSONRPCRequest(body)) return {};
  const requestId = typeof body.id === 'string' ? body.id.slice(0, 100) : body.id;
  return { operation: body.method.slice(0, 100), requestId };
}
