/**
 * Streamable HTTP (MCP 2025-11-25, Transports), by the SDK's transport, with what a client that lives for long needs besides:
 * an answer that breaks off ends its call at once (R82), what was cancelled holds no socket (R83), and a server that has gone,
 * or has forgotten the session, ends the connection, so that the next one begins with a handshake.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/client';
import { messageOf } from '../../../shared/errors.ts';
import { systemErrorCode } from '../../../shared/system-error.ts';
import { oneLine } from '../../tools/one-line.ts';
import { httpFailure } from './http-failure.ts';
import { openHttpLine, type HttpLine } from './http-line.ts';
import { PostSignals } from './post-signals.ts';
import { NotDelivered, type ServerTransport } from './server-transport.ts';

/** Of a stream that broke off and can be resumed. What the SDK calls growth is a factor. */
const RESUMING = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};

/** JSON-RPC: from -32000 to -32099 errors are the implementation's own. */
const OWN_ERROR = -32000;
/** The data of the error that stands in for an answer that broke off. */
export const CUT_OFF = 'cut-off';

/** Leaving a session is a courtesy. In milliseconds. */
const GOODBYE_MS = 1_000;

export class HttpTransport implements ServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #url: URL;
  readonly #line: HttpLine;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #posts = new PostSignals();
  #ending: Promise<void> | undefined;
  #why: string | undefined;
  /** Why a stream broke off, said before the end of the request it was for. */
  #streamTrouble: string | undefined;

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#line = openHttpLine(headers);
    this.#inner = new StreamableHTTPClientTransport(url, {
      fetch: this.#line.fetch,
      reconnectionOptions: RESUMING,
    });
    Object.assign(this.#inner, {
      onmessage: (message: JSONRPCMessage) => this.#take(message),
      onerror: (error: Error) => this.#judge(error),
    });
  }

  get trouble(): string | undefined {
    return this.#why;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  /** @throws NotDelivered where the server has certainly not seen the message. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#ending !== undefined) throw new NotDelivered('the connection was closed');
    const post = isJSONRPCRequest(message)
      ? this.#inner.send(message, {
          requestSignal: this.#posts.begin(message.id),
          onRequestStreamEnd: () => this.#cutOff(message.id),
        })
      : this.#inner.send(message).then(() => this.#posts.sent(message));
    await post.catch((error: unknown) => {
      const { message: why } = this.#sentence(error);
      throw this.#isForgotten(error) || neverConnected(error)
        ? new NotDelivered(why, { cause: error })
        : new Error(why, { cause: error });
    });
  }

  /** Resolves when every socket is closed. */
  async close(): Promise<void> {
    this.#end(undefined);
    await this.#ending;
  }

  #take(message: JSONRPCMessage): void {
    if ((isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) && message.id !== undefined)
      this.#posts.end(message.id);
    this.onmessage?.(message);
  }

  #cutOff(id: RequestId): void {
    this.#posts.end(id);
    const error = { code: OWN_ERROR, message: this.#streamTrouble ?? 'it ended early', data: CUT_OFF };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }

  /** What befalls one request is told by its call; this is about what befalls them all. */
  #judge(error: Error): void {
    if (this.#ending !== undefined) return;
    this.onerror?.(error);
    const why = this.#sentence(error).message;
    const [, trouble] = /^SSE stream disconnected: (?:\w+: )?(.*)$/s.exec(error.message) ?? [];
    this.#streamTrouble = trouble;
    const over =
      this.#isForgotten(error) ||
      isUnreachable(error) ||
      error.message.startsWith('Maximum reconnection attempts');
    // The request itself is told first: it may know better whether it has arrived.
    if (over) setImmediate(() => this.#end(this.#isForgotten(error) ? 'has forgotten the session' : why));
  }

  /** MCP 2025-11-25, Session Management: 404 to a request with a session id is the end of the session. */
  #isForgotten(error: unknown): boolean {
    return error instanceof SdkHttpError && error.status === 404 && this.sessionId !== undefined;
  }

  #sentence(error: unknown): Error {
    if (error instanceof SdkHttpError) {
      const hint = error.status === 401 || error.status === 403 ? ' (are its "headers" right?)' : '';
      const { text } = error.data;
      const said = typeof text === 'string' ? oneLine(text.trim(), 200) : '';
      const words = said === '' ? '' : `: ${said}`;
      return new Error(`${this.#url.host} answered with HTTP ${error.status}${hint}${words}`, {
        cause: error,
      });
    }
    const failure = httpFailure(error, this.#url);
    return failure.message === messageOf(error) && error instanceof Error ? error : failure;
  }

  /** Once, whatever comes first. @param why undefined where it is this side that ends it. */
  #end(why: string | undefined): void {
    if (this.#ending !== undefined) return;
    this.#why = why;
    this.#ending = this.#finish(why === undefined).catch((error: unknown) => {
      this.onerror?.(new Error('the connection could not be closed', { cause: error }));
    });
    this.onclose?.();
  }

  async #finish(polite: boolean): Promise<void> {
    if (polite && this.sessionId !== undefined) {
      const bye = this.#inner.terminateSession().catch(() => undefined);
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([bye, new Promise((resolve) => (timer = setTimeout(resolve, GOODBYE_MS)))]);
      clearTimeout(timer);
    }
    this.#posts.abortAll();
    await this.#inner.close();
    await this.#line.destroy();
  }
}

/** There was not even a connection. */
function neverConnected(error: unknown): boolean {
  const code = isUnreachable(error) && error instanceof Error ? systemErrorCode(error.cause) : undefined;
  return (
    code !== undefined && /^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT)/.test(code)
  );
}

/** No connection, as opposed to an answer one does not like. */
function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed';
}
