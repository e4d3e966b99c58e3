/** Calls A2A methods over JSON-RPC, and returns each answer unchanged. Needs no extension of the agent. */
import { z } from 'zod';
import {
  LAST_EVENT_ID_HEADER,
  RESUMABLE_STREAM_EXTENSION,
} from '../../shared/protocol/resumable-stream-extension.ts';
import { serverSentEventsOf } from '../../shared/net/server-sent-events.ts';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** The A2A versions that the probe supports, newest first. */
export const A2A_VERSIONS = ['1.0', '0.3'] as const;
export type A2aVersion = (typeof A2A_VERSIONS)[number];

/** One event of a stream. */
export interface StreamedEvent {
  /** The SSE id of the event. Undefined if the agent sends none. */
  id: string | undefined;
  data: unknown;
  text: string;
}

/** Calls A2A methods. The names and types are those of A2A 1.0. */
export interface A2aRpcCaller {
  /**
   * Calls a method and returns the result.
   * @throws JsonRpcError if the agent answers with an error
   * @throws NoAnswerError if the agent does not answer, or if its answer is not JSON-RPC
   */
  call(method: string, params: unknown): Promise<unknown>;
  /**
   * Calls a method and yields the events of the response.
   * @param lastEventId the SSE id after which the agent should replay the events
   * @throws JsonRpcError, NoAnswerError
   */
  stream(
    method: string,
    params: unknown,
    lastEventId?: string,
  ): AsyncGenerator<StreamedEvent, void, undefined>;
}

const rpcError = z.object({ code: z.number(), message: z.string() });
const rpcAnswer = z.union([z.object({ error: rpcError }), z.object({ result: z.unknown() })]);

/** Thrown if the agent answers with a JSON-RPC error. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError';
  readonly code: number;

  constructor({ code, message }: z.infer<typeof rpcError>) {
    super(message);
    this.code = code;
  }
}

/** Thrown if the connection ended before the answer, if the answer took too long, or if it is not JSON-RPC. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** Converts what the client sends and receives, if the agent has another version of A2A than 1.0. */
export interface A2aWire {
  method(method: string): string;
  params(params: unknown): unknown;
  /** Converts the result of `call`. */
  answer(method: string, result: unknown): unknown;
  /** Converts the result in an event of a stream. */
  event(result: unknown): unknown;
}

const A2A_10: A2aWire = {
  method: (method) => method,
  params: (params) => params,
  answer: (_, result) => result,
  event: (result) => result,
};

interface JsonRpcClientOptions {
  url: string;
  version: A2aVersion;
  /** Absent for A2A 1.0. */
  wire?: A2aWire | undefined;
  /** A `fetch` that adds the credentials and limits the size of answers. */
  fetchImpl: typeof fetch;
  /** If this signal aborts, every request ends. It aborts for example when the time of the probe is over. */
  signal: AbortSignal;
}

/** The maximum duration of one answer or one stream, in milliseconds. */
const MAX_ANSWER_MS = 60_000;

export class JsonRpcClient implements A2aRpcCaller {
  readonly #options: JsonRpcClientOptions;
  readonly #wire: A2aWire;

  constructor(options: JsonRpcClientOptions) {
    this.#options = options;
    this.#wire = options.wire ?? A2A_10;
  }

  async call(method: string, params: unknown): Promise<unknown> {
    const response = await this.#post(method, params, this.#requestSignal());
    return this.#wire.answer(method, resultOf(await jsonOf(response)));
  }

  async *stream(
    method: string,
    params: unknown,
    lastEventId?: string,
  ): AsyncGenerator<StreamedEvent, void, undefined> {
    // If the caller leaves the loop early, this signal closes the connection.
    const left = new AbortController();
    const limit = AbortSignal.any([this.#requestSignal(), left.signal]);
    try {
      const response = await this.#post(method, params, limit, lastEventId);
      if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
        resultOf(await jsonOf(response));
        throw new NoAnswerError(`${method} was answered with neither a stream nor an error`);
      }
      const events = serverSentEventsOf(response, { signal: limit });
      for (;;) {
        const next = await events.next().catch((error: unknown) => {
          throw new NoAnswerError(`the stream was cut: ${errorMessageOf(error)}`);
        });
        if (next.done) return;
        const { id, event, data } = next.value;
        if (event !== undefined && event !== 'message')
          throw new NoAnswerError(`the agent ended the stream with the event "${event}": ${data}`);
        yield { id, data: this.#wire.event(resultOf(parseAnswer(data))), text: data };
      }
    } finally {
      left.abort();
    }
  }

  #requestSignal(): AbortSignal {
    return AbortSignal.any([this.#options.signal, AbortSignal.timeout(MAX_ANSWER_MS)]);
  }

  async #post(method: string, params: unknown, limit: AbortSignal, lastEventId?: string): Promise<Response> {
    const { url, version, fetchImpl } = this.#options;
    const called = { method: this.#wire.method(method), params: this.#wire.params(params) };
    try {
      return await fetchImpl(url, {
        method: 'POST',
        signal: limit,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'A2A-Version': version,
          // An agent that does not have this extension ignores the header.
          'A2A-Extensions': RESUMABLE_STREAM_EXTENSION,
          ...(lastEventId !== undefined && { [LAST_EVENT_ID_HEADER]: lastEventId }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...called }),
      });
    } catch (error) {
      throw new NoAnswerError(limit.aborted ? `${method} took too long` : causeOf(error));
    }
  }
}

/** Reads the JSON of a response. @throws NoAnswerError */
async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    throw new NoAnswerError(`the answer was cut: ${errorMessageOf(error)}`);
  });
  return parseAnswer(text);
}

function parseAnswer(text: string): unknown {
  const json = parseJson(text);
  if (json === undefined) throw new NoAnswerError(`the answer is not JSON: ${text.slice(0, 100)}`);
  return json;
}

/** Returns the result in a JSON-RPC answer. @throws JsonRpcError; NoAnswerError if it is not a JSON-RPC answer */
function resultOf(answer: unknown): unknown {
  const read = rpcAnswer.safeParse(answer);
  if (!read.success) throw new NoAnswerError('the answer has neither a result nor an error of JSON-RPC');
  if ('error' in read.data) throw new JsonRpcError(read.data.error);
  return read.data.result;
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return errorMessageOf(cause ?? error);
}
