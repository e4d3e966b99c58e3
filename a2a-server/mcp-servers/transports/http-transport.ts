/**
 * Streamable HTTP (MCP 2025-11-25, Transports) on top of the SDK's transport. It adds three things for long-lived
 * clients. A response that ends early fails its call at once (R82). A cancelled request keeps no socket (R83). A server
 * that is gone or has lost the session ends the connection, so the next one starts with a handshake.
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
import { systemClock } from '../../../shared/runtime/clock.ts';
import { messageOf, systemErrorCode } from '../../../shared/runtime/errors.ts';
import { atMost } from '../../../shared/runtime/timeout.ts';
import { oneLine } from '../../../shared/text/one-line.ts';
import { httpFailure } from './http-failure.ts';
import { openOwnSocketHttp, type OwnSocketHttp } from './own-socket-http.ts';
import { PostSignals } from './post-signals.ts';
import { MessageNotDelivered, type ServerTransport } from './server-transport.ts';

/** For a stream that broke and can be resumed. The SDK's "growth" is a factor. */
const RESUMING = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};

/** JSON-RPC reserves -32000 to -32099 for errors of the implementation. */
const OWN_ERROR = -32000;
/** The `data` of the error that replaces a response that ended early. */
export const CUT_OFF = 'cut-off';

/** Time limit to delete the session, which is optional, in milliseconds. */
const GOODBYE_MS = 1_000;

export class HttpTransport implements ServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #url: URL;
  readonly #line: OwnSocketHttp;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #posts = new PostSignals();
  #ending: Promise<void> | undefined;
  #why: string | undefined;
  /** Why a stream broke. The SDK reports this before the end of the request. */
  #streamTrouble: string | undefined;

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#line = openOwnSocketHttp(headers);
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

  /** @throws NotDelivered if the server certainly has not received the message */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#ending !== undefined) throw new MessageNotDelivered('the connection was closed');
    const post = isJSONRPCRequest(message)
      ? this.#inner.send(message, {
          requestSignal: this.#posts.begin(message.id),
          onRequestStreamEnd: () => this.#cutOff(message.id),
        })
      : this.#inner.send(message).then(() => this.#posts.sent(message));
    await post.catch((error: unknown) => {
      const { message: why } = this.#sentence(error);
      throw this.#isForgotten(error) || neverConnected(error)
        ? new MessageNotDelivered(why, { cause: error })
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
    const error = {
      code: OWN_ERROR,
      message: this.#streamTrouble ?? 'the response ended early',
      data: CUT_OFF,
    };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }

  /** A call reports the error of its own request. This handles errors of the whole connection. */
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
    // Deferred, so that the request reports its error first: it knows better whether it arrived.
    if (over) setImmediate(() => this.#end(this.#isForgotten(error) ? 'has lost the session' : why));
  }

  /** MCP 2025-11-25, Session Management: 404 for a request with a session id means that the session has ended. */
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

  /** Runs only once. @param why undefined if this side ends the connection */
  #end(why: string | undefined): void {
    if (this.#ending !== undefined) return;
    this.#why = why;
    this.#ending = this.#finish(why === undefined).catch((error: unknown) => {
      this.onerror?.(new Error('the transport cannot close the connection', { cause: error }));
    });
    this.onclose?.();
  }

  async #finish(polite: boolean): Promise<void> {
    if (polite && this.sessionId !== undefined) {
      await atMost(systemClock, GOODBYE_MS, this.#inner.terminateSession()).catch(() => undefined);
    }
    this.#posts.abortAll();
    await this.#inner.close();
    await this.#line.destroy();
  }
}

/** True if the request did not even connect. */
function neverConnected(error: unknown): boolean {
  const code = isUnreachable(error) && error instanceof Error ? systemErrorCode(error.cause) : undefined;
  return (
    code !== undefined && /^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT)/.test(code)
  );
}

/** True if the request failed without a response. */
function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed';
}
