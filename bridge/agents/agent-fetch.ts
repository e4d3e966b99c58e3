/**
 * `fetch` for all requests to one agent: adds its headers, bounds its answers, and throws a typed failure for any
 * answer that is not A2A.
 */
import { unlessAborted } from '../../shared/runtime/abort.ts';
import { boundedBytes, boundEvents } from '../../shared/net/bounded-body.ts';
import { parseUrl } from '../../shared/net/parse-url.ts';
import { excerptOf, HttpFailure } from './http-failure.ts';
import { ownSocketFetch } from './own-socket-fetch.ts';
import { fetchWithoutIdleLimit } from './fetch-without-idle-limit.ts';
import { WithheldCredentials } from './withheld-credentials-error.ts';

const MEGABYTE = 1024 * 1024;
const MAX_ANSWER = 64 * MEGABYTE;
const MAX_EVENT = 16 * MEGABYTE;
const MAX_ERROR = 64 * 1024;

interface AgentFetchOptions {
  /** Credentials go only to this origin, whatever the agent's card says. */
  origin: string;
  /** E.g. `authorization`. Never logged. */
  headers: Readonly<Record<string, string>>;
  /**
   * True if the agent's process has ended. The bridge then sends no request, because another program may use its port
   * now.
   */
  isGone?: () => boolean;
  /** Each POST has its own socket. The bridge resets this socket (RST) and never ends it (FIN); see `Hazards`. */
  ownSockets?: boolean;
  /**
   * True if the agent may be silent for longer than Node's own `fetch` allows. Set `patience` as well: it then limits
   * the silence.
   */
  quiet?: boolean;
  /** The time limits, in milliseconds. */
  patience?: {
    /** The time until a response begins. */
    beginningMs: number;
    /** The longest silence within a stream. */
    silenceMs: number;
  };
}

/**
 * The error for a request that was not sent because the agent's process has ended. It has the same code as a refused
 * connection.
 */
class EndedProcess extends Error {
  readonly code = 'ECONNREFUSED';
  readonly syscall = 'connect';
  override readonly message = 'the process of the agent has ended';
}

export function agentFetch(options: AgentFetchOptions): typeof fetch {
  return async (input, init) => {
    const { url, method, headers } = describe(input, init);
    if (options.isGone?.() === true) throw new TypeError('fetch failed', { cause: new EndedProcess() });
    const posts = method.toUpperCase() !== 'GET';
    const { patience } = options;
    const send = posts && options.ownSockets === true ? ownSocketFetch : sendFor(options);
    const streams = headers.get('accept')?.includes('text/event-stream') === true;
    const get = streams ? sendFor(options) : fetch;
    const credentialsFor = (target: string): Headers => {
      const all = new Headers(headers);
      if (new URL(target).origin === options.origin)
        for (const [name, value] of Object.entries(options.headers)) all.set(name, value);
      return all;
    };
    const answer = async (): Promise<Response> => {
      const response = await begun(patience?.beginningMs, init?.signal, (limits) =>
        posts
          ? // A redirected POST would become a GET, or send its body to another host.
            send(input, { ...init, ...limits, headers: credentialsFor(url), redirect: 'error' })
          : followed(url, (target) =>
              get(target, { ...init, ...limits, headers: credentialsFor(target), redirect: 'manual' }),
            ),
      );
      if (response.status === 401 || response.status === 403)
        await refuseWithheld(response, { ...options, asked: url });
      return response.ok ? bounded(response, patience?.silenceMs) : refused(response);
    };
    // After the headers, `fetch` holds a timeout signal only weakly. This listener keeps the signal alive.
    return init?.signal ? unlessAborted(answer(), init.signal) : answer();
  };
}

function sendFor({ quiet }: AgentFetchOptions): typeof fetch {
  return quiet === true ? fetchWithoutIdleLimit : fetch;
}

/**
 * Throws WithheldCredentials if an error response came from a server that got no credentials. Such a server has not
 * refused them.
 */
async function refuseWithheld(
  response: Response,
  { origin, headers, asked }: Pick<AgentFetchOptions, 'origin' | 'headers'> & { asked: string },
): Promise<void> {
  const { origin: answering } = new URL(response.url === '' ? asked : response.url);
  if (answering === origin || Object.keys(headers).length === 0) return;
  await response.body?.cancel();
  throw new WithheldCredentials({ at: answering, origin });
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

/**
 * Follows the redirects of a GET. Only a hop to the agent's origin gets the credentials. `fetch` itself would send
 * every header but `authorization` and `cookie` to another origin (Fetch Standard §4.4).
 */
async function followed(url: string, get: (url: string) => Promise<Response>): Promise<Response> {
  let at = url;
  for (let hops = 0; ; hops += 1) {
    const response = await get(at);
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null) return response;
    await response.body?.cancel();
    const next = parseUrl(location, new URL(at));
    if (hops === MAX_REDIRECTS || !/^https?:$/.test(next?.protocol ?? ''))
      throw new HttpFailure(
        response.status,
        `it redirects more than ${MAX_REDIRECTS} times, or to no web address`,
      );
    at = next?.href ?? at;
  }
}

/** Limits the time until a response begins, but not the time for its body. @throws TimeoutError */
async function begun(
  beginningMs: number | undefined,
  signal: AbortSignal | null | undefined,
  ask: (limits: Pick<RequestInit, 'signal'>) => Promise<Response>,
): Promise<Response> {
  if (beginningMs === undefined) return ask({});
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort(new DOMException('The answer did not start in time', 'TimeoutError'));
  }, beginningMs);
  try {
    return await ask({ signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal });
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the fields of a request without making a `Request`, because `fetch` makes its own `Request`. */
function describe(
  input: string | URL | Request,
  init: RequestInit = {},
): { url: string; method: string; headers: Headers } {
  const request =
    input instanceof Request ? input : { url: String(input), method: 'GET', headers: undefined };
  return {
    url: request.url,
    method: init.method ?? request.method,
    headers: new Headers(init.headers ?? request.headers),
  };
}

async function bounded(response: Response, silenceMs: number | undefined): Promise<Response> {
  const body = response.body;
  if (body === null) return response;
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) {
    const bound = boundEvents({ maxEventBytes: MAX_EVENT, silenceMs }, outOfBounds);
    return rewrapped(response, body.pipeThrough(bound));
  }
  // The caller needs the whole JSON anyway, so this code reads all of it and limits its size.
  if (type.includes('json')) return rewrapped(response, await boundedBytes(body, MAX_ANSWER, outOfBounds));
  const text = await beginning(body);
  throw new HttpFailure(
    response.status,
    `it answered with ${type === '' ? 'no content type' : type}`,
    excerptOf(text),
  );
}

function outOfBounds(message: string): HttpFailure {
  return new HttpFailure(200, message);
}

/** Handles an error response. It passes an A2A error to the SDK. It turns any other response into an HttpFailure. */
async function refused(response: Response): Promise<Response> {
  const text = response.body === null ? '' : await beginning(response.body);
  if (!carriesError(text)) {
    throw new HttpFailure(
      response.status,
      `HTTP ${String(response.status)} ${response.statusText}`.trim(),
      excerptOf(text),
    );
  }
  return new Response(text, { status: response.status, headers: response.headers });
}

function carriesError(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return (
      typeof parsed === 'object' &&
      parsed !== null &&
      'error' in parsed &&
      typeof parsed.error === 'object' &&
      parsed.error !== null &&
      'message' in parsed.error
    );
  } catch {
    return false;
  }
}

/** Reads the first bytes of a body as text. Does not wait for the rest. */
async function beginning(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ERROR) break;
  }
  return text.slice(0, MAX_ERROR);
}

function rewrapped(response: Response, body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>): Response {
  return new Response(body, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
}
