/**
 * A `fetch` for the requests to one agent. It adds the credentials, and limits the size and duration of responses. A
 * response that is not A2A becomes a typed error.
 */
import { readBoundedBytes, SseEventLimit } from '../../../shared/net/bounded-body.ts';
import { isConnectFailure } from '../../../shared/net/is-connect-failure.ts';
import { parseUrl } from '../../../shared/net/parse-url.ts';
import { fieldOf, isRecord } from '../../../shared/runtime/record.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';
import { currentTrace } from './current-trace.ts';
import {
  bodyExcerpt,
  HttpError,
  UnreachableEndpointError,
  WithheldCredentialsError,
} from './request-errors.ts';
import { BufferedResponse } from './buffered-response.ts';
import { sendHttpRequest, type HttpAnswer, type SocketUse } from './send-http-request.ts';

const MEGABYTE = 1024 * 1024;
const MAX_ANSWER_BYTES = 64 * MEGABYTE;
const MAX_EVENT_BYTES = 16 * MEGABYTE;
const MAX_ERROR_CHARACTERS = 64 * 1024;

interface AgentFetchOptions {
  /**
   * The origin of the agent's URL. The bridge sends the credentials only there, even if the agent's card names other
   * URLs.
   */
  origin: string;
  /** The HTTP headers that contain the credentials. They are never logged. */
  headers: Readonly<Record<string, string>>;
  /**
   * Returns true if the agent's process has ended. The bridge then sends no request, because another program may now
   * use the port.
   */
  isGone?: () => boolean;
  /** How each POST uses sockets. If absent, `pooled`. A GET always uses a pooled socket. */
  postSockets?: SocketUse;
  timeouts?: {
    /** The maximum time until the response headers arrive, in milliseconds. */
    beginningMs: number;
    /** The maximum time without data within a response, in milliseconds. */
    silenceMs: number;
  };
}

/**
 * Thrown if the agent's process has ended. Then no request is sent. The `code` makes callers treat this error like a
 * refused connection.
 */
class EndedProcessError extends Error {
  readonly code = 'ECONNREFUSED';
  readonly syscall = 'connect';
  override readonly message = 'the process of the agent has ended';
}

export function createAgentFetch(options: AgentFetchOptions): typeof fetch {
  const { timeouts } = options;
  return async (input, init = {}) => {
    if (options.isGone?.() === true) throw new TypeError('fetch failed', { cause: new EndedProcessError() });
    const { url, method, headers, body } = await readRequestParts(input, init);
    const posts = method !== 'GET';
    const ask = (target: string): Promise<HttpAnswer> =>
      sendHttpRequest({
        url: target,
        method,
        headers: withCredentials(headers, target, options),
        body,
        signal: init.signal ?? undefined,
        sockets: (posts ? options.postSockets : undefined) ?? 'pooled',
        beginningMs: timeouts?.beginningMs,
      }).catch((error: unknown) => {
        const { origin: at } = new URL(target);
        const elsewhere = at !== options.origin && isConnectFailure(fieldOf(error, 'cause'));
        throw elsewhere ? new UnreachableEndpointError({ at, cause: error }) : error;
      });
    const { answer, at } = posts
      ? { answer: await refuseRedirect(ask(url), { url, method }), at: url }
      : await getFollowingRedirects(url, ask);
    const { status } = answer;
    if (status === 401 || status === 403) refuseWithheld(answer, { ...options, at });
    try {
      return status >= 200 && status < 300
        ? await toBoundedResponse(answer, timeouts?.silenceMs, headers['accept'])
        : await toA2aErrorResponse(answer, timeouts?.silenceMs);
    } catch (error) {
      answer.discard();
      throw error instanceof HttpError ? error : answer.failure(error);
    }
  };
}

/**
 * If the request goes to the agent's origin, adds the credentials and the trace context to the headers. The added
 * headers replace others of the same name.
 */
function withCredentials(
  headers: RequestParts['headers'],
  target: string,
  { origin, headers: credentials }: AgentFetchOptions,
): Record<string, string> {
  const all: Record<string, string> = { ...headers };
  if (new URL(target).origin === origin)
    for (const [name, value] of Object.entries({ ...currentTrace(), ...credentials }))
      all[name.toLowerCase()] = value;
  return all;
}

/**
 * Throws WithheldCredentialsError if the error response came from a server to which the bridge sent no credentials.
 * Such an error does not mean that the credentials are wrong.
 */
function refuseWithheld(
  answer: HttpAnswer,
  { origin, headers, at }: Pick<AgentFetchOptions, 'origin' | 'headers'> & { at: string },
): void {
  const { origin: answering } = new URL(at);
  if (answering === origin || Object.keys(headers).length === 0) return;
  answer.discard();
  throw new WithheldCredentialsError({ at: answering, origin });
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

/** Sends a GET request and follows its redirects. The bridge sends the credentials only to the agent's origin. */
async function getFollowingRedirects(
  url: string,
  get: (url: string) => Promise<HttpAnswer>,
): Promise<{ answer: HttpAnswer; at: string }> {
  let at = url;
  for (let hops = 0; ; hops += 1) {
    const answer = await get(at);
    const location = answer.headers.get('location');
    if (!REDIRECTS.has(answer.status) || location === undefined) return { answer, at };
    answer.discard();
    const next = parseUrl(location, new URL(at));
    if (hops === MAX_REDIRECTS || !/^https?:$/.test(next?.protocol ?? ''))
      throw new HttpError(
        answer.status,
        `it redirects more than ${MAX_REDIRECTS} times, or to no web address`,
      );
    at = next?.href ?? at;
  }
}

/**
 * Throws if the agent redirects a POST. The redirected request would become a GET, or would send its body to another
 * host.
 */
async function refuseRedirect(
  asked: Promise<HttpAnswer>,
  { url, method }: Pick<RequestParts, 'url' | 'method'>,
): Promise<HttpAnswer> {
  const answer = await asked;
  const { status, headers } = answer;
  const location = headers.get('location');
  if (!REDIRECTS.has(status) || location === undefined) return answer;
  answer.discard();
  const to = parseUrl(location, new URL(url))?.href ?? location;
  throw new HttpError(status, `it redirects a ${method} to ${bodyExcerpt(to)}`);
}

interface RequestParts {
  url: string;
  method: string;
  /** The names are in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
}

/** Reads the parts of a request. @throws TypeError if the body is not a string */
async function readRequestParts(input: string | URL | Request, init: RequestInit): Promise<RequestParts> {
  const request = typeof input === 'string' || input instanceof URL ? undefined : input;
  const url = new URL(input instanceof URL || typeof input === 'string' ? input : input.url).href;
  const body = init.body ?? (request?.body ? await request.text() : undefined);
  if (body !== undefined && typeof body !== 'string') throw new TypeError('the body has to be a string');
  return {
    url,
    method: (init.method ?? request?.method ?? 'GET').toUpperCase(),
    headers: Object.fromEntries(headerEntries(init.headers ?? request?.headers ?? {})),
    body,
  };
}

function headerEntries(headers: NonNullable<RequestInit['headers']>): [string, string][] {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return entries.flatMap(([name, value]) =>
    name === undefined || value === undefined ? [] : [[name.toLowerCase(), String(value)]],
  );
}

/**
 * Limits the size of a response, and checks its media type.
 * @param accept the media types that the request accepts. JSON and server-sent events are always accepted.
 */
async function toBoundedResponse(
  answer: HttpAnswer,
  silenceMs: number | undefined,
  accept: string | undefined,
): Promise<Response> {
  const { status, body } = answer;
  if (status === 204 || status === 205) {
    body.resume();
    return new BufferedResponse(null, answer);
  }
  const type = answer.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) {
    const { statusText, headers } = answer;
    return new Response(eventStreamOf(answer, silenceMs), {
      status,
      statusText,
      headers: Object.fromEntries(headers),
    });
  }
  // The caller parses the JSON, so it needs the whole body.
  const asked = accept?.split(',').map((each) => each.trim()) ?? [];
  const expected = type.includes('json') || asked.includes(type.split(';')[0] ?? '');
  if (expected)
    return new BufferedResponse(
      await readBoundedBytes(chunksOf(answer, silenceMs), MAX_ANSWER_BYTES, unusableResponseError),
      answer,
    );
  const text = await readBeginning(answer, silenceMs);
  throw new HttpError(status, `it answered with ${type === '' ? 'no content type' : type}`, {
    excerpt: bodyExcerpt(text),
  });
}

/**
 * Yields the chunks of a body. The socket stays open if the reader stops early. The caller must then discard the
 * answer.
 * @throws HttpError if no data arrives for `silenceMs`
 */
async function* chunksOf(
  { body }: HttpAnswer,
  silenceMs: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const end = (ms: number): unknown =>
    body.destroy(unusableResponseError(`it was silent for ${seconds(ms)}`));
  const timer = silenceMs === undefined ? undefined : setTimeout(end, silenceMs, silenceMs);
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      timer?.refresh();
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the stream of server-sent events. The stream fails if one event is too large, or if no data arrives for
 * `silenceMs` although the reader waits for data. A heartbeat counts as data.
 */
function eventStreamOf(
  { body, discard, failure }: HttpAnswer,
  silenceMs: number | undefined,
): ReadableStream<Uint8Array> {
  const limit = new SseEventLimit(MAX_EVENT_BYTES);
  let silence: NodeJS.Timeout | undefined;
  let over = false;
  /** Ends the stream once. @returns false if it has ended before */
  const end = (): boolean => {
    clearTimeout(silence);
    return !over && (over = true);
  };
  const giveUp = (controller: ReadableStreamDefaultController, why: string): void => {
    if (!end()) return;
    controller.error(unusableResponseError(why));
    discard();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      body.on('data', (chunk: Uint8Array) => {
        if (over) return;
        clearTimeout(silence);
        const exceeded = limit.exceededWith(chunk);
        if (exceeded !== undefined) return giveUp(controller, exceeded);
        // If the reader waits for more, this calls `pull`.
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) body.pause();
      });
      body.once('end', () => {
        if (end()) controller.close();
      });
      body.on('error', (cause) => {
        if (end()) controller.error(failure(cause));
      });
      body.pause();
    },
    pull(controller) {
      clearTimeout(silence);
      if (silenceMs !== undefined)
        silence = setTimeout(
          giveUp,
          silenceMs,
          controller,
          `the stream was silent for ${seconds(silenceMs)}`,
        ).unref();
      body.resume();
    },
    cancel() {
      end();
      discard();
    },
  });
}

function seconds(ms: number): string {
  return `${String(ms / 1000)} s`;
}

function unusableResponseError(message: string): HttpError {
  return new HttpError(200, message);
}

/**
 * Returns the response if its body is an A2A error, which the SDK parses. Throws HttpError for any other error
 * response.
 */
async function toA2aErrorResponse(answer: HttpAnswer, silenceMs: number | undefined): Promise<Response> {
  const { status, statusText, headers } = answer;
  const text = await readBeginning(answer, silenceMs);
  if (carriesError(text)) return new BufferedResponse(new TextEncoder().encode(text), answer);
  throw new HttpError(status, `HTTP ${String(status)} ${statusText}`.trim(), {
    excerpt: bodyExcerpt(text),
    headers,
  });
}

function carriesError(text: string): boolean {
  const error = fieldOf(parseJson(text), 'error');
  return isRecord(error) && 'message' in error;
}

/** Reads the first bytes of a body as text. */
async function readBeginning(answer: HttpAnswer, silenceMs: number | undefined): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunksOf(answer, silenceMs)) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ERROR_CHARACTERS) {
      answer.discard();
      break;
    }
  }
  return text.slice(0, MAX_ERROR_CHARACTERS);
}
