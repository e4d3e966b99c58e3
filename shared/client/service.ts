/** One server behind one address: requests with its token, answers as values, failures as ClientError. */
import * as z from 'zod/mini';
import { ClientError, unreachable } from './client-error.ts';

export interface ServiceOptions {
  /** Where the server is. */
  url: string;
  /** Its bearer token, or how to read the current one. Without it only servers that ask for none answer. */
  token?: string | (() => string) | undefined;
  /** In place of the platform's own. */
  fetch?: typeof globalThis.fetch | undefined;
}

export interface Ask {
  method: 'GET' | 'POST' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  /** To be sent as JSON. */
  body?: unknown;
  signal?: AbortSignal;
  /** Outlives the page. Browsers allow 64 KiB of such bodies at a time (Fetch Standard, inflight keepalive bytes). */
  keepalive?: boolean;
}

export class Service {
  readonly url: string;
  readonly #token: () => string | undefined;
  readonly #fetch: typeof globalThis.fetch;

  constructor({ url, token, fetch = (input, init) => globalThis.fetch(input, init) }: ServiceOptions) {
    this.url = url.replace(/\/+$/, '');
    this.#token = typeof token === 'function' ? token : () => token;
    this.#fetch = fetch;
  }

  /** @throws ClientError for anything but a 2xx */
  async ask(path: string, { method, headers, body, signal, keepalive }: Ask): Promise<Response> {
    const token = this.#token();
    const url = `${this.url}${path}`;
    let response: Response;
    try {
      response = await this.#fetch(url, {
        method,
        headers: {
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        // No cookies, and a token goes nowhere but where it was meant for.
        credentials: 'omit',
        redirect: 'error',
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
        ...(keepalive === true && { keepalive }),
      });
    } catch (error) {
      throw unreachable(url, error);
    }
    if (response.ok) return response;
    throw refusal(await response.text().catch(() => ''), response.status);
  }

  /** @throws ClientError also where the answer does not fit the schema */
  async askFor<Schema extends z.ZodMiniType>(
    schema: Schema,
    path: string,
    ask: Ask,
  ): Promise<z.output<Schema>> {
    const response = await this.ask(path, ask);
    const text = await response.text().catch((error: unknown) => {
      throw unreachable(this.url, error);
    });
    return understood(schema, text);
  }
}

/** Reads JSON text. @throws ClientError malformed-answer */
export function understood<Schema extends z.ZodMiniType>(schema: Schema, text: string): z.output<Schema> {
  return fitting(schema, jsonOf(text), text);
}

/** @param shown what the failure shows of it. @throws ClientError malformed-answer */
export function fitting<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  shown: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ClientError(
    'malformed-answer',
    `The server's answer is not what this client understands: ${shown.slice(0, 200)}`,
    { cause: parsed.error },
  );
}

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

const facts = z.record(z.string(), z.string());

/** A2A 1.0 §11.6 with the server's `ErrorInfo`; or a JSON-RPC error, as MCP over HTTP has it. */
const errorBody = z.object({
  error: z.object({
    message: z.string(),
    details: z.optional(z.array(z.object({ metadata: z.optional(facts) }))),
  }),
});

/** @param text the body of an answer that says no, or of a stream that broke off */
export function refusal(text: string, status: number): ClientError {
  const { error } = errorBody.safeParse(jsonOf(text)).data ?? {};
  const metadata = error?.details?.find((detail) => detail.metadata?.['reason'] !== undefined)?.metadata;
  const { reason, retryable, ...rest } = metadata ?? {};
  return new ClientError('refused', error?.message ?? `The server answered with the status ${status}.`, {
    status,
    facts: rest,
    // RFC 9110 §15.6: these three may pass.
    retryable: retryable === undefined ? [502, 503, 504].includes(status) : retryable === 'true',
    ...(reason !== undefined && { reason }),
  });
}
