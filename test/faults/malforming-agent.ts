/**
 * An agent that forwards to a good agent and malforms the answers: JSON, streams, events, framing, status and content
 * type.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { malformedText } from './malformed.ts';
import type { Random } from './random.ts';
import { listenOnLoopback } from '../support/listen-on-loopback.ts';

export interface MalformingAgent {
  url: string;
  /** Returns the number of malformed answers and events so far. */
  readonly malformed: () => number;
  stop: () => Promise<void>;
}

interface Malforming {
  /** The good agent. */
  url: string;
  random: Random;
  /**
   * The share of answers that the agent malforms, from 0 to 1. `card` is the share for agent cards; most cards stay
   * valid.
   */
  share: number;
  card: number;
}

const CARD = '/.well-known/';
const TYPES: readonly [string, ...string[]] = [
  'application/json',
  'text/event-stream',
  'text/html',
  'application/json; charset=utf-16',
  'application/octet-stream',
  'image/png',
  ';;;',
];
const STATUSES: readonly [number, ...number[]] = [
  200, 201, 204, 206, 301, 400, 401, 404, 409, 418, 429, 500, 503, 599,
];

/** Frames that a stream may contain besides events. */
const FRAMES: readonly [string, ...string[]] = [
  ': comment\n\n',
  'data\n\n',
  'data:\n\n',
  'event: error\ndata: {}\n\n',
  'id: \u0000\n\n',
  'id: 99999999999999999999\ndata: {}\n\n',
  'retry: -5\n\n',
  'retry: 99999999999\n\n',
  'data: {"a":1}\ndata: }\n\n',
  '\r\r\r\n',
  'no colon at all\n\n',
];

export async function malformingAgent(options: Malforming): Promise<MalformingAgent> {
  const state = { malformed: 0, url: '' };
  const server = createServer((request, response) => {
    // Either side may close its connection at any time, so this error is expected.
    response.on('error', () => undefined);
    void pass(request, response, { ...options, state }).catch(() => response.destroy());
  });
  const { host, close } = await listenOnLoopback(server);
  state.url = `http://${host}`;
  return {
    url: state.url,
    malformed: () => state.malformed,
    stop: close,
  };
}

interface Passing extends Malforming {
  state: { malformed: number; url: string };
}

async function pass(request: IncomingMessage, response: ServerResponse, passing: Passing): Promise<void> {
  const { url, random, card, share, state } = passing;
  const body = await buffer(request);
  const headers: Record<string, string> = {};
  for (const name of ['content-type', 'accept', 'last-event-id', 'a2a-version', 'a2a-extensions']) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const { method = 'GET' } = request;
  const outgoing = forward(new URL(request.url ?? '/', url), { method, headers });
  // The end of this response ends the request, at any time. So this error is expected too.
  outgoing.on('error', () => undefined);
  response.once('close', () => outgoing.destroy());
  const answered = once(outgoing, 'response');
  outgoing.end(body);
  const [answer]: IncomingMessage[] = await answered;
  if (answer === undefined) throw new Error('the agent has not answered');
  const status = answer.statusCode ?? 200;
  const type = answer.headers['content-type'] ?? 'application/json';
  const malformed = random.chance(request.url?.startsWith(CARD) === true ? card : share);
  if (type.startsWith('text/event-stream') && !random.chance(0.1)) {
    response.writeHead(status, { 'content-type': type });
    return stream(answer, response, malformed ? passing : { ...passing, share: 0 });
  }
  // The answer of the good agent contains its own address. The bridge must use this agent's address instead.
  const text = (await buffer(answer)).toString().replaceAll(url.replace(/\/$/, ''), state.url);
  if (!malformed) return void response.writeHead(status, { 'content-type': type }).end(text);
  state.malformed += 1;
  response.writeHead(random.chance(0.8) ? status : random.pick(STATUSES), {
    'content-type': random.chance(0.8) ? type : random.pick(TYPES),
  });
  response.end(malformedText(parsed(text), random));
}

async function stream(
  body: IncomingMessage,
  response: ServerResponse,
  { random, share, state }: Passing,
): Promise<void> {
  let rest = '';
  for await (const piece of body.setEncoding('utf8')) {
    const events = (rest + piece).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      if (random.chance(share)) {
        state.malformed += 1;
        response.write(malformedEvent(event, random));
      } else response.write(`${event}\n\n`);
    }
  }
  response.end(rest);
}

function malformedEvent(event: string, random: Random): Buffer {
  if (random.chance(0.2)) return Buffer.from(random.pick(FRAMES));
  const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? '';
  const head = event.slice(0, Math.max(0, event.indexOf('data:')));
  return Buffer.concat([
    Buffer.from(`${head}data: `),
    malformedText(parsed(data), random),
    Buffer.from('\n\n'),
  ]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
