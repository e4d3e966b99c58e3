/**
 * Sends HTTP requests to one server. The client adds the token, validates responses, and reports failures as
 * ClientError.
 */
import * as z from 'zod/mini';
import { ClientError, unreachableError } from './client-error.ts';
import { parseJson } from '../../text/parse-json.ts';

export interface HttpClientOptions {
  url: string;
  /** The bearer token, or a function that returns the current one. Absent for servers without authentication. */
  token?: string | (() => string) | undefined;
  /** A function to use instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** The maximum time until the response to a GET begins. If this field is absent, there is no limit. */
  quietMs?: number | undefined;
}

interface HttpCall {
  method: 'GET' | 'POST' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  /** The value of the request body. The client converts it to JSON. */
  body?: unknown;
  signal?: AbortSignal;
  /**
   * True if the request must continue after the page unloads. Browsers allow 64 KiB of such request bodies at a time
   * (Fetch Standard, inflight keepalive bytes).
   */
  keepalive?: boolean;
}

export class HttpClient {
  readonly url: string;
  readonly #token: () => string | undefined;
  readonly #fetch: typeof globalThis.fetch;
  readonly #quietMs: number | undefined;

  constructor({
    url,
    token,
    fetch = (input, init) => globalThis.fetch(input, init),
    quietMs,
  }: HttpClientOptions) {
    this.url = url.replace(/\/+$/, '');
    this.#token = typeof token === 'function' ? token : () => token;
    this.#fetch = fetch;
    this.#quietMs = quietMs;
  }

  /** Sends a request. @throws ClientError if the status is not 2xx */
  async ask(path: string, { method, headers, body, signal, keepalive }: HttpCall): Promise<Response> {
    const token = this.#token();
    const url = `${this.url}${path}`;
    let response: Response;
    const limit = this.#limit(method, signal);
    try {
      response = await this.#fetch(url, {
        method,
        headers: {
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        // No request contains cookies. A redirect is an error, so the token never reaches the target of a redirect.
        credentials: 'omit',
        redirect: 'error',
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(limit.signal && { signal: limit.signal }),
        ...(keepalive === true && { keepalive }),
      });
    } catch (error) {
      throw unreachableError(url, error);
    } finally {
      clearTimeout(limit.timer);
    }
    if (response.ok) return response;
    throw errorFromBody(await response.text().catch(() => ''), response.status);
  }

  /** Limits the time of a GET only. If another request got no response in time, its outcome would be unknown. */
  #limit(
    method: HttpCall['method'],
    signal: AbortSignal | undefined,
  ): { signal?: AbortSignal | undefined; timer?: ReturnType<typeof setTimeout> } {
    if (method !== 'GET' || this.#quietMs === undefined) return { signal };
    const silence = new AbortController();
    return {
      signal: AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]),
      timer: setTimeout(() => silence.abort(), this.#quietMs),
    };
  }

  /**
   * Sends a request and validates the response.
   * @throws ClientError if the status is not 2xx, or if the response does not match the schema
   */
  async askFor<Schema extends z.ZodMiniType>(
    schema: Schema,
    path: string,
    ask: HttpCall,
  ): Promise<z.output<Schema>> {
    const response = await this.ask(path, ask);
    return parseAs(schema, await readResponseText(response));
  }
}

/** Reads the whole body. @throws ClientError unreachable if the connection breaks */
export async function readResponseText(response: Response): Promise<string> {
  return response.text().catch((error: unknown) => {
    throw unreachableError(response.url, error);
  });
}

/** Parses JSON text and validates the value. @throws ClientError malformed-answer */
export function parseAs<Schema extends z.ZodMiniType>(schema: Schema, text: string): z.output<Schema> {
  return validateAs(schema, parseJson(text), text);
}

/**
 * Validates a value.
 * @param shown the text of the value, which the error quotes
 * @throws ClientError malformed-answer
 */
export function validateAs<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  shown: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ClientError(
    'malformed-answer',
    `The server's answer does not fit the protocol. Check the address and the versions. The answer: ${shown.slice(0, 200)}`,
    { cause: parsed.error },
  );
}

const facts = z.record(z.string(), z.string());

/**
 * The JSON body of an error response: an A2A error with `ErrorInfo` (A2A 1.0 §11.6), or a JSON-RPC error of MCP over
 * HTTP.
 */
const errorBody = z.object({
  error: z.object({
    message: z.string(),
    details: z.optional(z.array(z.object({ metadata: z.optional(facts) }))),
  }),
});

/**
 * Converts an error response to a ClientError.
 * @param text the body of an error response, or the data of a stream's error event
 */
export function errorFromBody(text: string, status: number): ClientError {
  const { error } = errorBody.safeParse(parseJson(text)).data ?? {};
  const metadata = error?.details?.find((detail) => detail.metadata?.['reason'] !== undefined)?.metadata;
  const { reason, retryable, ...rest } = metadata ?? {};
  return new ClientError('refused', error?.message ?? `The server answered with the status ${status}.`, {
    status,
    facts: rest,
    // RFC 9110 §15.6: these three status codes may be temporary.
    retryable: retryable === undefined ? [502, 503, 504].includes(status) : retryable === 'true',
    ...(reason !== undefined && { reason }),
  });
}
