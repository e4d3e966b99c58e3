/**
 * A model provider on loopback: a real HTTP server with the real streaming formats and scripted replies. The request
 * path selects the format. Replies are used in their scripted order.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { framesOf, type ScriptedTurn, type WireName } from './fake-model-wires.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';

export type { ScriptedTurn, WireName } from './fake-model-wires.ts';

export type Reply =
  | {
      type: 'turn';
      turn: Partial<ScriptedTurn>;
      /**
       * Sends only the first `frames` frames. Then `end` ends the body, `reset` resets the socket, and `silence` sends
       * nothing more. `rest` sends the other frames when `after` resolves.
       */
      cut?:
        | { frames: number; ending: 'end' | 'reset' | 'silence' }
        | { frames: number; ending: 'rest'; after: Promise<void> };
    }
  | { type: 'status'; status: number; headers?: Record<string, string>; body?: unknown }
  /** Status 200 with exactly this body. */
  | { type: 'raw'; body: string };

export interface Received {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
  /** The body as it arrived. */
  text: string;
  /**
   * Resolves when the socket of the response has closed. True if the socket closed before the response was complete.
   */
  closedEarly: Promise<boolean>;
}

export interface FakeModelEndpoint {
  /** The address of the endpoint without a path, e.g. `http://127.0.0.1:4711`. */
  url: string;
  received: Received[];
  script(...replies: Reply[]): void;
  /** Sets the function that makes a reply when no scripted reply is left. */
  otherwise(reply: (request: Received) => Reply): void;
  /** Resolves with the next request that arrives. */
  nextRequest(): Promise<Received>;
  close(): Promise<void>;
}

const EMPTY: ScriptedTurn = { text: [], calls: [], finish: 'stop', inputTokens: 7, outputTokens: 3 };

/** @returns the scripted turn with defaults for its missing fields */
export function wholeTurn(turn: Partial<ScriptedTurn>): ScriptedTurn {
  return { ...EMPTY, ...turn };
}

/** @param tls the certificate and the key, in PEM, of an endpoint over HTTPS */
export async function startFakeModelEndpoint(tls?: {
  cert: string;
  key: string;
}): Promise<FakeModelEndpoint> {
  const received: Received[] = [];
  const replies: Reply[] = [];
  let otherwise: ((request: Received) => Reply) | undefined;
  let arrived: ((request: Received) => void)[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await text(request);
    const body: unknown = sent === '' ? undefined : JSON.parse(sent);
    const closedEarly = once(response, 'close').then(() => !response.writableFinished);
    const entry = { path: request.url ?? '', headers: request.headers, body, text: sent, closedEarly };
    received.push(entry);
    for (const tell of arrived) tell(entry);
    arrived = [];
    answer(response, wireOf(entry.path), replies.shift() ?? otherwise?.(entry));
  };
  const listener: RequestListener = (request, response) => void receive(request, response);
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const { host, close } = await listenOnLoopback(server);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host}`,
    received,
    script: (...more) => void replies.push(...more),
    otherwise: (reply) => (otherwise = reply),
    nextRequest: () => new Promise((resolve) => arrived.push(resolve)),
    close,
  };
}

function wireOf(address: string): WireName | undefined {
  const [path = ''] = address.split('?', 1);
  if (path.endsWith('/chat/completions') || path.endsWith('/responses')) return 'openai';
  if (path.endsWith('/messages')) return 'anthropic';
  return address.endsWith(':streamGenerateContent?alt=sse') ? 'google' : undefined;
}

function answer(response: ServerResponse, wire: WireName | undefined, reply: Reply | undefined): void {
  if (wire === undefined || reply === undefined) {
    response.writeHead(wire === undefined ? 404 : 500).end('nothing is scripted here');
    return;
  }
  if (reply.type === 'status') {
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(
      JSON.stringify(reply.body ?? { error: { message: `status ${reply.status}`, type: 'error' } }),
    );
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  if (reply.type === 'raw') {
    response.end(reply.body);
    return;
  }
  const { turn, cut } = reply;
  const all = framesOf(wire, wholeTurn(turn));
  response.flushHeaders();
  response.write(all.slice(0, cut?.frames).join(''), () => {
    if (cut === undefined || cut.ending === 'end') response.end();
    else if (cut.ending === 'reset') response.socket?.resetAndDestroy();
    else if (cut.ending === 'rest') void cut.after.then(() => response.end(all.slice(cut.frames).join('')));
  });
}
