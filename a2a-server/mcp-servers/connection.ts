/** One connection to an MCP server, from its handshake to its end. What comes after it is for whoever holds it. */
import { Client, ProtocolError, type ElicitRequest, type ElicitResult } from '@modelcontextprotocol/client';
import { onAbort } from '../../shared/abort.ts';
import { Deferred } from '../../shared/client/deferred.ts';
import { messageOf } from '../../shared/errors.ts';
import { packageVersion } from '../../shared/version.ts';
import { oneLine } from '../tools/one-line.ts';
import { callResult, type CallResult } from './call-result.ts';
import { isRemote, type McpServerEntry } from './server-settings.ts';
import { ProgressLines } from './progress-lines.ts';
import { readToolList, toolPage, type ToolList, type Wanted } from './tool-list.ts';
import { CUT_OFF, HttpTransport } from './transports/http-transport.ts';
import { NotDelivered, type ServerTransport, type TransportContext } from './transports/server-transport.ts';
import { SseTransport } from './transports/sse-transport.ts';
import { StdioTransport } from './transports/stdio-transport.ts';

/** One page of the list of tools, in milliseconds. */
const PAGE_MS = 30_000;
/** A call is limited by its tool execution alone; Node's timers count no further. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** Characters of what a server says of a failure. */
const MAX_WORDS = 1_000;

/** The connection ended, or the answer broke off: whether the call took effect is not known. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export interface ConnectionOptions extends TransportContext {
  /** From the start of the program, or the first request, to the list of tools, in milliseconds. */
  connectMs: number;
  /** Ends the attempt. */
  signal: AbortSignal;
  onListChanged: () => void;
  /** Once, with a sentence whose subject may be left out, without its end. */
  onClosed: (why: string) => void;
  /** The server wants to know something of a person. */
  onElicit: (params: ElicitRequest['params'], signal: AbortSignal) => Promise<ElicitResult>;
}

export interface Call {
  tool: string;
  input: Record<string, unknown>;
  /** Aborted, the server is told so with `notifications/cancelled`. */
  signal: AbortSignal;
  /** Told what the server says of its progress, a line each. */
  progress: (line: string) => void;
}

export interface Connection {
  /** What it lists now. @throws Error when it cannot be read. */
  list(wanted: Wanted, signal: AbortSignal): Promise<ToolList>;
  /** @throws ConnectionLost, NotDelivered; Error with the server's own words; AbortError when the signal has aborted. */
  call(call: Call): Promise<CallResult>;
  /** Resolves when no socket, timer or process of it is left. */
  close(): Promise<void>;
}

/** @throws Error with a sentence whose subject may be left out, without its end; nothing is left of the attempt then. */
export async function connect(entry: McpServerEntry, options: ConnectionOptions): Promise<Connection> {
  const { clock, connectMs, signal } = options;
  const transport = transportTo(entry, options);
  const client = clientFor(options);
  const progress = new ProgressLines(transport);
  let late = false;
  const cancelTimer = clock.after(connectMs, () => {
    late = true;
    void transport.close();
  });
  const stopListening = onAbort(signal, () => void transport.close());
  try {
    signal.throwIfAborted();
    await client.connect(transport, { timeout: connectMs + PAGE_MS });
  } catch (error) {
    await transport.close();
    const { trouble } = transport;
    const what = late ? `did not answer within ${connectMs / 1000} s` : (trouble ?? wordsOf(error));
    throw new Error(late && trouble !== undefined ? `${what}; ${trouble}` : what, { cause: error });
  } finally {
    cancelTimer();
    stopListening();
  }
  return connected(client, { transport, progressOf: progress }, options);
}

function transportTo(entry: McpServerEntry, context: TransportContext): ServerTransport {
  if (!isRemote(entry)) return new StdioTransport(entry, context);
  const url = new URL(entry.url);
  return entry.type === 'sse' ? new SseTransport(url, entry.headers) : new HttpTransport(url, entry.headers);
}

function clientFor({ onListChanged, onElicit, log }: ConnectionOptions): Client {
  const client = new Client(
    { name: 'mcp-a2a-bridge', version: packageVersion() },
    { capabilities: { elicitation: { form: {}, url: {} } } },
  );
  client.setNotificationHandler('notifications/tools/list_changed', onListChanged);
  // They are read from the wire, by ProgressLines.
  client.setNotificationHandler('notifications/progress', () => undefined);
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => onElicit(params, mcpReq.signal));
  const onerror = (error: Error): void =>
    log.debug({ problem: oneLine(error.message, 300) }, 'trouble with an MCP server');
  return Object.assign(client, { onerror });
}

function connected(
  client: Client,
  { transport, progressOf }: { transport: ServerTransport; progressOf: ProgressLines },
  options: ConnectionOptions,
): Connection {
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
        client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, toolPage, {
          timeout: PAGE_MS,
          signal,
        });
      return readToolList(read, wanted).catch((error: unknown) => {
        throw new Error(over ? lost() : wordsOf(error), { cause: error });
      });
    },
    call: async ({ tool, input, signal, progress }) => {
      const stopTelling = progressOf.tell(progress);
      const params = { name: tool, arguments: input, _meta: { progressToken: stopTelling.token } };
      try {
        const request = { method: 'tools/call', params };
        return await client.request(request, callResult, { signal, timeout: NO_LIMIT_MS });
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof NotDelivered) {
          await ended.promise;
          throw error;
        }
        if (over) throw new ConnectionLost(lost(), { cause: error });
        if (error instanceof ProtocolError && error.data === CUT_OFF)
          throw new ConnectionLost(`broke its answer off (${wordsOf(error)})`, { cause: error });
        throw new Error(wordsOf(error), { cause: error });
      } finally {
        stopTelling.stop();
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
