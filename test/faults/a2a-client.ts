/**
 * A client of A2A 1.0 over sockets that may break at any byte: JSON-RPC for commands, HTTP+JSON for subscriptions.
 * Each request uses a new connection, and reports exactly what happened: an answer, a refusal or a cut.
 */
import { request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import {
  LAST_EVENT_ID_HEADER,
  RESUMABLE_STREAM_EXTENSION,
} from '../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import { Refusal, resultOf, rpcBody } from '../support/rpc-answer.ts';
import { sseFrames } from '../support/sse-frame.ts';
import { Violation } from './findings.ts';

/** The connection ended before the answer. The sender does not know whether the request has arrived. */
export class Disconnected extends Error {
  override readonly name = 'Disconnected';
}

/** The client activates these extensions. A server that lacks them ignores this header. */
const EXTENSIONS = `${TOOL_APPROVAL_EXTENSION},${RESUMABLE_STREAM_EXTENSION}`;

/** A request without an answer after this time counts as hanging, in milliseconds. */
const HANGS_MS = 60_000;

export interface Frame {
  id: string | undefined;
  data: unknown;
  text: string;
}

export interface Reading {
  lastEventId?: string;
  signal?: AbortSignal;
}

export interface A2aClientOptions {
  url: string;
  token?: string;
}

export class A2aClient {
  readonly #url: string;
  readonly #token: string | undefined;

  constructor({ url, token }: A2aClientOptions) {
    this.#url = url;
    this.#token = token;
  }

  /** @returns the result. @throws Refusal, Disconnected */
  async call(method: string, params: unknown): Promise<unknown> {
    const response = await this.#request('POST', '', { body: rpcBody(method, params) });
    return resultOf(await bodyOf(response));
  }

  /**
   * Sends a command over JSON-RPC, and yields the events that answer it.
   * @throws Refusal, Disconnected
   */
  async *stream(
    method: string,
    params: unknown,
    reading: Reading = {},
  ): AsyncGenerator<Frame, void, undefined> {
    const response = await this.#request('POST', '', { ...reading, body: rpcBody(method, params) });
    if (!isStream(response)) {
      resultOf(await bodyOf(response));
      throw new Violation(`${method} was answered with neither a stream nor a refusal`);
    }
    for await (const frame of framesOf(response)) yield { ...frame, data: resultOf(frame.data) };
  }

  /**
   * Sends `GET /tasks/{id}:subscribe`, as a browser's EventSource does.
   * @throws Refusal, Disconnected
   */
  async *subscribe(taskId: string, reading: Reading = {}): AsyncGenerator<Frame, void, undefined> {
    const response = await this.#request('GET', `/tasks/${taskId}:subscribe`, reading);
    if (isStream(response)) yield* framesOf(response);
    else {
      const body = JSON.stringify(await bodyOf(response));
      throw new Refusal({ code: response.statusCode ?? 0, message: body });
    }
  }

  #request(method: string, path: string, sent: Reading & { body?: string }): Promise<IncomingMessage> {
    const { body, lastEventId, signal } = sent;
    const limit = AbortSignal.timeout(HANGS_MS);
    return new Promise((resolve, reject) => {
      const outgoing = request(`${this.#url}${path}`, {
        method,
        agent: false,
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        headers: {
          ...(this.#token !== undefined && { Authorization: `Bearer ${this.#token}` }),
          'A2A-Version': '1.0',
          'A2A-Extensions': EXTENSIONS,
          ...(lastEventId !== undefined && { [LAST_EVENT_ID_HEADER]: lastEventId }),
          ...(body !== undefined && {
            'Content-Type': 'application/json',
            'Content-Length': String(Buffer.byteLength(body)),
          }),
        },
      });
      outgoing.once('response', resolve);
      outgoing.once('error', (error) =>
        reject(limit.aborted ? hangs(method, path) : new Disconnected(error.message, { cause: error })),
      );
      outgoing.end(body);
    });
  }
}

function hangs(method: string, path: string): Violation {
  return new Violation(`${method} ${path === '' ? '/' : path} got no answer within ${HANGS_MS / 1000} s`);
}

function isStream({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}

async function bodyOf(response: IncomingMessage): Promise<unknown> {
  const text = await buffer(response).catch((error: unknown) => {
    throw new Disconnected('the answer was cut', { cause: error });
  });
  // A server that starts or shuts down answers 503 without an A2A body. The client may then send the request again.
  if (response.statusCode === 503) throw new Disconnected('the server is not ready');
  // Node's HTTP parser sends this response if the request arrived incomplete. So no A2A code has handled the
  // request.
  if (response.statusCode === 400 && text.length === 0) throw new Disconnected('the request was cut');
  try {
    const json: unknown = JSON.parse(text.toString());
    return json;
  } catch {
    throw new Violation(
      `status ${response.statusCode} came with a body that is not JSON: ${text.toString().slice(0, 200)}`,
    );
  }
}

async function* framesOf(response: IncomingMessage): AsyncGenerator<Frame, void, undefined> {
  const frames = sseFrames(response);
  try {
    for (;;) {
      const next = await frames.next().catch((error: unknown) => {
        throw new Disconnected('the stream was cut', { cause: error });
      });
      if (next.done) return;
      const { id, event, data } = next.value;
      // The server sends an error event if it cannot continue a stream.
      if (event !== undefined) throw new Disconnected(`the server broke the stream off: ${data}`);
      yield { id, data: JSON.parse(data), text: data };
    }
  } finally {
    response.destroy();
  }
}
