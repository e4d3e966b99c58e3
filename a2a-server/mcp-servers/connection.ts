/** One connection to an MCP server, from its handshake to its end. Its owner reconnects. */
import { Client, ProtocolError, type ElicitRequest, type ElicitResult } from '@modelcontextprotocol/client';
import { onAbort } from '../../shared/runtime/abort.ts';
import { Deferred } from '../../shared/client/core/deferred.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import { startTimeout } from '../../shared/runtime/timeout.ts';
import { packageVersion } from '../../shared/runtime/version.ts';
import { oneLine } from '../../shared/text/one-line.ts';
import { callResultSchema, type McpCallResult } from './call-result.ts';
import { isRemote, type McpServerEntry } from './server-settings.ts';
import { ProgressLines, type OnProgressLine } from './progress-lines.ts';
import { readToolList, toolPageSchema, type ToolList, type ToolFilter } from './tool-list.ts';
import { CUT_OFF, HttpTransport } from './transports/http-transport.ts';
import {
  MessageNotDelivered,
  type ServerTransport,
  type TransportContext,
} from './transports/server-transport.ts';
import { SseTransport } from './transports/sse-transport.ts';
import { StdioTransport } from './transports/stdio-transport.ts';

/** Time limit for one page of the tool list, in milliseconds. */
const PAGE_MS = 30_000;
/** The tool execution limits a call, so the request itself has no limit. This is the maximum of Node's timers. */
const NO_LIMIT_MS = 2 ** 31 - 1;
const NO_REASON = 'The call was stopped.';
/** The maximum length of a server's error message, in characters. */
const MAX_WORDS = 1_000;

/** The connection or the response ended early, so the outcome of the call is unknown. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export interface McpServerConnectionOptions extends TransportContext {
  /** Time limit from the start of the program, or the first request, to the tool list, in milliseconds. */
  connectMs: number;
  /** Aborts the attempt. */
  signal: AbortSignal;
  onListChanged: () => void;
  /** Called once, with a sentence without its subject and full stop. */
  onClosed: (why: string) => void;
  /** Called when the server asks the person something. */
  onElicit: (params: ElicitRequest['params'], signal: AbortSignal) => Promise<ElicitResult>;
}

export interface McpToolCall {
  tool: string;
  input: Record<string, unknown>;
  /** When it aborts, the client sends `notifications/cancelled`. */
  signal: AbortSignal;
  /** The reason of the cancel, for the server. */
  stopReason?: (() => string | undefined) | undefined;
  /** Called with each progress notification. */
  progress: OnProgressLine;
}

export interface McpServerConnection {
  /** Reads the current tool list. @throws Error if it cannot read the list */
  list(wanted: ToolFilter, signal: AbortSignal): Promise<ToolList>;
  /** @throws ConnectionLost; NotDelivered; Error with the server's message; AbortError after the signal aborts */
  call(call: McpToolCall): Promise<McpCallResult>;
  /** Resolves when no socket, timer or process is left. */
  close(): Promise<void>;
}

/**
 * Connects to a server. After a failure nothing is left open.
 * @throws Error with a sentence without its subject and full stop
 */
export async function connectToMcpServer(
  entry: McpServerEntry,
  options: McpServerConnectionOptions,
): Promise<McpServerConnection> {
  const { clock, connectMs, signal } = options;
  const transport = transportTo(entry, options);
  const client = clientFor(options);
  const progress = new ProgressLines(transport);
  const limit = startTimeout(clock, connectMs, signal);
  const stopListening = onAbort(limit.signal, () => void transport.close());
  try {
    signal.throwIfAborted();
    await client.connect(transport, { timeout: connectMs + PAGE_MS });
  } catch (error) {
    await transport.close();
    const { trouble } = transport;
    const late = limit.expired();
    const what = late ? `did not answer within ${connectMs / 1000} s` : (trouble ?? wordsOf(error));
    throw new Error(late && trouble !== undefined ? `${what}; ${trouble}` : what, { cause: error });
  } finally {
    stopListening();
    limit.clear();
  }
  return connected(client, { transport, progressOf: progress }, options);
}

function transportTo(entry: McpServerEntry, context: TransportContext): ServerTransport {
  if (!isRemote(entry)) return new StdioTransport(entry, context);
  const url = new URL(entry.url);
  return entry.type === 'sse' ? new SseTransport(url, entry.headers) : new HttpTransport(url, entry.headers);
}

function clientFor({ onListChanged, onElicit, log }: McpServerConnectionOptions): Client {
  const client = new Client(
    { name: 'mcp-a2a-bridge', version: packageVersion() },
    { capabilities: { elicitation: { form: {}, url: {} } } },
  );
  client.setNotificationHandler('notifications/tools/list_changed', onListChanged);
  // ProgressLines reads these notifications directly from the transport.
  client.setNotificationHandler('notifications/progress', () => undefined);
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => onElicit(params, mcpReq.signal));
  const onerror = (error: Error): void =>
    log.debug({ problem: oneLine(error.message, 300) }, 'an MCP server connection reported an error');
  return Object.assign(client, { onerror });
}

function connected(
  client: Client,
  { transport, progressOf }: { transport: ServerTransport; progressOf: ProgressLines },
  options: McpServerConnectionOptions,
): McpServerConnection {
  const lost = (): string => transport.trouble ?? 'closed the connection';
  let over = false;
  let closing = false;
  const ended = new Deferred<void>();
  const onclose = (): void => {
    over = true;
    ended.resolve();
    if (!closing) options.onClosed(lost());
  };
  Object.assign(client, { onclose });
  const tools = client.getServerCapabilities()?.tools;
  return {
    list: async (wanted, signal) => {
      if (tools === undefined) return { definitions: [], problems: ['it offers no tools'] };
      const read = (cursor: string | undefined) =>
        client.request(
          { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
          toolPageSchema,
          {
            timeout: PAGE_MS,
            signal,
          },
        );
      return readToolList(read, { wanted, log: options.log }).catch((error: unknown) => {
        throw new Error(over ? lost() : wordsOf(error), { cause: error });
      });
    },
    call: async ({ tool, input, signal, stopReason, progress }) => {
      const stopTelling = progressOf.tell(progress);
      // The SDK sends the signal's reason as the `reason` of `notifications/cancelled` (MCP, cancellation).
      const cancel = new AbortController();
      const stopListening = onAbort(signal, () => cancel.abort(stopReason?.() ?? NO_REASON));
      const params = { name: tool, arguments: input, _meta: { progressToken: stopTelling.token } };
      try {
        const request = { method: 'tools/call', params };
        return await client.request(request, callResultSchema, {
          signal: cancel.signal,
          timeout: NO_LIMIT_MS,
        });
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof MessageNotDelivered) {
          await ended.promise;
          throw error;
        }
        if (over) throw new ConnectionLost(lost(), { cause: error });
        if (error instanceof ProtocolError && error.data === CUT_OFF)
          throw new ConnectionLost(`ended its response early (${wordsOf(error)})`, { cause: error });
        throw new Error(wordsOf(error), { cause: error });
      } finally {
        stopTelling.stop();
        stopListening();
      }
    },
    close: async () => {
      closing = true;
      await client.close();
      await transport.close();
    },
  };
}

function wordsOf(error: unknown): string {
  return oneLine(messageOf(error), MAX_WORDS);
}
