import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { fetch as undiciFetch } from 'undici';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGzip } from 'node:zlib';
import { createAgentFetch } from '../../../../../bridge/agents/http/agent-fetch.ts';
import { HttpError } from '../../../../../bridge/agents/http/request-errors.ts';
import { listenOnLoopback } from '../../../../support/listen-on-loopback.ts';

const MEGABYTE = 1024 * 1024;
/** The time that Node's own `fetch` waits for the next byte. */
const NODES_LIMIT_MS = 300_000;
const QUIET_MS = 900_000;
/** The test checks the error's name, because `fetch` and the test have different classes named TypeError. */
const NETWORK = { name: 'TypeError' };
const TOKEN = { authorization: 'Bearer secret' };

interface Agent {
  url: string;
  /** The received requests, in order. */
  asked: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[];
  answer: RequestListener;
  close(): Promise<void>;
}

async function startAgent(): Promise<Agent> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    agent.asked.push({ method, url, headers, body: await text(request) });
    agent.answer(request, response);
  };
  const server = createServer((request, response) => void answer(request, response));
  const { host, close } = await listenOnLoopback(server);
  const agent: Agent = { url: `http://${host}`, asked: [], answer: json('{}'), close };
  return agent;
}

function json(body: string, status = 200): RequestListener {
  return (_, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

/** Fakes `setTimeout` and `setInterval`. */
const useFakeTimers = () =>
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });

describe('fetch for requests to agents', () => {
  let agent: Agent;
  let other: Agent;
  let ask: typeof fetch;

  beforeEach(async () => {
    [agent, other] = await Promise.all([startAgent(), startAgent()]);
    ask = createAgentFetch({ origin: agent.url, headers: TOKEN });
  });

  afterEach(async () => {
    await Promise.all([agent.close(), other.close()]);
  });

  test.each<[string, (url: string) => Parameters<typeof fetch>]>([
    ['an address', (url) => [url, { method: 'POST', headers: { 'a2a-version': '1.0' }, body: 'said' }]],
    ['a URL', (url) => [new URL(url), { method: 'POST', headers: [['a2a-version', '1.0']], body: 'said' }]],
    [
      'a Request',
      (url) => [new Request(url, { method: 'POST', headers: { 'a2a-version': '1.0' }, body: 'said' })],
    ],
  ])('%s has its own headers and those of the agent’s settings', async (_, request) => {
    agent.answer = json('{"heard":true}');
    const response = await ask(...request(`${agent.url}/path`));

    expect(await response.json()).toEqual({ heard: true });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(agent.asked).toMatchObject([
      { method: 'POST', url: '/path', body: 'said', headers: { ...TOKEN, 'a2a-version': '1.0' } },
    ]);
  });

  test('X1 a GET that is redirected to another origin sends no credential header there', async () => {
    ask = createAgentFetch({ origin: agent.url, headers: { ...TOKEN, 'x-api-key': 'secret' } });
    agent.answer = (request, response) => {
      if (request.url === '/card') response.writeHead(302, { location: '/moved' }).end();
      else response.writeHead(307, { location: `${other.url}/there` }).end();
    };
    await ask(`${agent.url}/card`, { headers: { 'a2a-version': '1.0' } });
    expect(agent.asked.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([
      ['/card', 'secret'],
      ['/moved', 'secret'],
    ]);
    expect(other.asked).toHaveLength(1);
    expect(other.asked[0]?.headers).toMatchObject({ 'a2a-version': '1.0' });
    expect(JSON.stringify(other.asked)).not.toContain('secret');
    agent.answer = (_, response) => response.writeHead(302, { location: '/again' }).end();
    await expect(ask(`${agent.url}/`)).rejects.toThrow('redirects more than 5 times');
  });

  test('credentials never go to another origin, neither directly nor after a redirect', async () => {
    await ask(other.url);
    agent.answer = (_, response) => response.writeHead(302, { location: `${other.url}/next` }).end();
    await ask(agent.url);

    expect(agent.asked[0]?.headers).toMatchObject(TOKEN);
    expect(other.asked.map(({ url }) => url)).toEqual(['/', '/next']);
    for (const { headers } of other.asked) expect(headers).not.toHaveProperty('authorization');
  });

  test('X1 credentials are not sent to another origin that asks for them, and the failure says so', async () => {
    other.answer = (_, response) => response.writeHead(401).end();
    const withheld = { name: 'WithheldCredentialsError', at: other.url, origin: agent.url };
    await expect(ask(`${other.url}/rpc`, { method: 'POST', body: '{}' })).rejects.toMatchObject(withheld);
    agent.answer = (_, response) => response.writeHead(302, { location: `${other.url}/next` }).end();
    await expect(ask(agent.url)).rejects.toMatchObject(withheld);
    agent.answer = (_, response) => response.writeHead(401).end();
    await expect(ask(agent.url)).rejects.toMatchObject({ name: 'HttpError', status: 401 });
  });

  test.each(['POST', 'post', 'DELETE'])(
    'R63 a redirected %s is not sent to the new address; the failure names that address',
    async (method) => {
      agent.answer = (_, response) => response.writeHead(307, { location: `${other.url}/` }).end();
      const failure = { name: 'HttpError', status: 307, message: expect.stringContaining(`${other.url}/`) };
      await expect(ask(agent.url, { method })).rejects.toMatchObject(failure);
      await expect(ask(new Request(agent.url, { method }))).rejects.toMatchObject(failure);
      expect(other.asked).toEqual([]);
    },
  );

  test('X3 the size limit of a response counts the decompressed bytes', async () => {
    agent.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      const zip = createGzip();
      zip.pipe(response);
      zip.end(Buffer.alloc(65 * MEGABYTE, '1'));
    };
    await expect(ask(agent.url)).rejects.toThrow(/answer of more than 64 MB/);
  });

  test('an aborted or slow response ends with the reason, even in its middle', async () => {
    agent.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"half":');
      calling.abort();
    };
    const calling = new AbortController();
    await expect(ask(agent.url, { signal: calling.signal })).rejects.toThrow(/abort/);
    const slow = new AbortController();
    agent.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"half":');
      slow.abort(new DOMException('too long', 'TimeoutError'));
    };
    await expect(ask(agent.url, { signal: slow.signal })).rejects.toThrow('too long');
  });

  test('if an agent accepts the request and never responds, the request ends; a response that has started may continue', async () => {
    const waiting = (beginningMs: number): typeof fetch =>
      createAgentFetch({ origin: agent.url, headers: TOKEN, timeouts: { beginningMs, silenceMs: 60_000 } });
    const patient = waiting(50);
    agent.answer = () => undefined;
    const { signal } = new AbortController();
    await expect(patient(agent.url)).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(patient(agent.url, { signal })).rejects.toMatchObject({ name: 'TimeoutError' });

    const answers: ServerResponse[] = [];
    agent.answer = (_, response) => {
      answers.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      response.write('data: 1\n\n');
    };
    useFakeTimers();
    try {
      const slow = await waiting(3_000)(agent.url, { signal });
      await jest.advanceTimersByTimeAsync(3_000);
      answers[0]?.end('data: 2\n\n');
      expect(await slow.text()).toBe('data: 1\n\ndata: 2\n\n');
    } finally {
      jest.useRealTimers();
    }
  });

  test.each([200, 500])(
    'a response with HTTP %i that stops in its middle ends after the limit for silence, without a time limit in the signal',
    async (status) => {
      agent.answer = (_, response) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.write('{"half":');
      };
      const patient = createAgentFetch({
        origin: agent.url,
        headers: TOKEN,
        timeouts: { beginningMs: 60_000, silenceMs: 50 },
      });
      const { signal } = new AbortController();
      const asked = patient(agent.url, { method: 'POST', body: '{}', signal });
      await expect(asked).rejects.toMatchObject({
        name: 'HttpError',
        message: expect.stringMatching(/silent/),
      });
    },
  );

  test('a time limit in the request’s signal alone ends a response that stops in its middle', async () => {
    const patient = createAgentFetch({
      origin: agent.url,
      headers: TOKEN,
      timeouts: { beginningMs: 60_000, silenceMs: 60_000 },
    });
    agent.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"half":');
    };
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    if (typeof collect !== 'function') throw new Error('V8 has no gc');
    const collecting = setInterval(() => void collect(), 20);
    try {
      const asked = patient(agent.url, { signal: AbortSignal.timeout(300) });
      await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' });
    } finally {
      clearInterval(collecting);
    }
  });

  test('an agent may be silent for longer than Node’s limit, but not for longer than the bridge’s limit', async () => {
    const answers: ServerResponse[] = [];
    agent.answer = (_, response) => {
      answers.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      response.write('data: one\n\n');
    };
    const timeouts = { beginningMs: QUIET_MS, silenceMs: QUIET_MS };
    const quiet = createAgentFetch({ origin: agent.url, headers: {}, timeouts });
    // Both time limits begin with the requests, so the fake timers must exist before.
    useFakeTimers();
    try {
      // The library of Node's `fetch`, with its default limits.
      const control = (await undiciFetch(agent.url, { method: 'POST' })).body?.getReader();
      const stream = (await quiet(agent.url, { method: 'POST', body: '{}' })).body?.getReader();
      const decoder = new TextDecoder();
      const next = async () => decoder.decode((await stream?.read())?.value);
      expect(await next()).toBe('data: one\n\n');
      await control?.read();
      const ended = expect(control?.read()).rejects.toThrow('terminated');
      const two = next();
      await jest.advanceTimersByTimeAsync(NODES_LIMIT_MS + 10_000);
      await ended;
      answers[1]?.write('data: two\n\n');
      expect(await two).toBe('data: two\n\n');
      const silent = expect(next()).rejects.toThrow('silent for 900 s');
      await jest.advanceTimersByTimeAsync(QUIET_MS);
      await silent;
    } finally {
      jest.useRealTimers();
    }
  });

  test('S3 a caller that stops reading does not make the agent silent', async () => {
    const answers: ServerResponse[] = [];
    agent.answer = (_, response) => {
      answers.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      response.write('data: one\n\n');
    };
    const timeouts = { beginningMs: QUIET_MS, silenceMs: QUIET_MS };
    const quiet = createAgentFetch({ origin: agent.url, headers: {}, timeouts });
    useFakeTimers();
    try {
      const stream = (await quiet(agent.url, { method: 'POST', body: '{}' })).body?.getReader();
      const decoder = new TextDecoder();
      const next = async () => decoder.decode((await stream?.read())?.value);
      // The first event came in one packet with the headers.
      await setImmediate();
      await jest.advanceTimersByTimeAsync(QUIET_MS);
      expect(await next()).toBe('data: one\n\n');
      answers[0]?.write('data: two\n\n');
      expect(await next()).toBe('data: two\n\n');
      const silent = expect(next()).rejects.toThrow('silent for 900 s');
      await jest.advanceTimersByTimeAsync(QUIET_MS);
      await silent;
    } finally {
      jest.useRealTimers();
    }
  });

  test('S3 a stream that the caller does not read is not buffered', async () => {
    let written = 0;
    agent.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = (): void => {
        while (written < 64 * MEGABYTE) {
          written += MEGABYTE;
          if (!response.write(`data: ${'x'.repeat(MEGABYTE)}\n\n`)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
    const reader = (await ask(agent.url, { method: 'POST' })).body?.getReader();
    await reader?.read();
    // The server stops after it has filled the kernel's buffers.
    expect(written).toBeLessThan(32 * MEGABYTE);
    await reader?.cancel();
  });

  test('X3 an event without an end fails the stream, and its connection closes', async () => {
    const closed = new Promise((resolve) => {
      agent.answer = (_, response) => {
        response.once('close', () => resolve(true));
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const more = (failure?: Error | null): void => {
          // Node 26 still calls back after the connection has closed.
          if (!failure && !response.destroyed) response.write(`data: ${'x'.repeat(MEGABYTE)}\n`, more);
        };
        more();
      };
    });
    const endless = await ask(agent.url, { method: 'POST' });
    await expect(endless.text()).rejects.toThrow('an event of more than 16 MB');
    expect(await closed).toBe(true);
  });

  test.each(['ends', 'is cancelled', 'fails'])('a stream that %s leaves no timer behind', async (how) => {
    agent.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n', () => {
        if (how === 'ends') response.end();
        if (how === 'fails') response.destroy();
      });
    };
    const timeouts = { beginningMs: QUIET_MS, silenceMs: QUIET_MS };
    useFakeTimers();
    try {
      const quiet = createAgentFetch({ origin: agent.url, headers: {}, timeouts });
      const answered = await quiet(agent.url, { method: 'POST', body: '{}' });
      if (how === 'is cancelled') await answered.body?.cancel();
      else await answered.text().catch(() => undefined);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  test('a response that breaks off is a network failure', async () => {
    agent.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"half":', () => response.destroy());
    };
    await expect(ask(agent.url)).rejects.toMatchObject(NETWORK);
  });

  test('the caller gets an A2A error unchanged; any other error response is an HTTP failure', async () => {
    const error = '{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no such task"}}';
    agent.answer = json(error, 404);
    const refused = await ask(agent.url);
    expect({ status: refused.status, text: await refused.text() }).toEqual({ status: 404, text: error });

    agent.answer = json('{"detail":"nope"}', 404);
    await expect(ask(agent.url)).rejects.toThrow(HttpError);
    agent.answer = (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hi');
    await expect(ask(agent.url)).rejects.toMatchObject({ status: 200, excerpt: '<p>hi' });
  });
});
