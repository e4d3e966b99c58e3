import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { startSseResponse } from '../../../../../a2a-server/http/streams/sse.ts';
import { UnreadResponses } from '../../../../../a2a-server/http/streams/unread-responses.ts';
import { listenOnLoopback, type LoopbackAddress } from '../../../../support/listen-on-loopback.ts';

const servers: LoopbackAddress[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  for (const server of servers.splice(0)) await server.close();
});

/** Creates a response on a real socket. Returns also the client's end of the socket. */
async function responseTo(): Promise<{ response: ServerResponse; reader: Promise<Response> }> {
  const server = createServer();
  const got = new Promise<ServerResponse>((resolve) => {
    server.once('request', (_request, response) => resolve(response));
  });
  const listening = await listenOnLoopback(server);
  servers.push(listening);
  const reader = fetch(`http://${listening.host}`);
  return { response: await got, reader };
}

/** Waits like the server, which closes a socket that accepts nothing for `patienceMs`. */
function waitUntilRead(response: ServerResponse, patienceMs: number): Promise<void> | undefined {
  return new UnreadResponses(patienceMs / 20).whenRead('ann', response);
}

describe('server-sent events', () => {
  test('all SSE frames of one tick except the first share one write', async () => {
    const { response, reader } = await responseTo();
    const writer = startSseResponse(response, { heartbeatMs: 60_000 });
    const writes: unknown[] = [];
    const write = response.write.bind(response);
    response.write = (chunk: unknown) => {
      writes.push(chunk);
      return write(chunk);
    };
    writer.send({ data: '1', id: '1' });
    expect(writes).toEqual(['id: 1\ndata: 1\n\n']);
    writer.send({ data: '2' });
    writer.send({ data: '3', event: 'error' });
    expect(writes).toHaveLength(1);
    await new Promise(setImmediate);
    expect(writes.slice(1)).toEqual(['data: 2\n\nevent: error\ndata: 3\n\n']);
    writer.end();
    expect(await (await reader).text()).toBe('id: 1\ndata: 1\n\ndata: 2\n\nevent: error\ndata: 3\n\n');
  });

  test('S3 if the socket is full, the writer learns it at once and waits for the socket', async () => {
    const { response, reader } = await responseTo();
    const writer = startSseResponse(response, { heartbeatMs: 60_000 });
    const frame = { data: 'x'.repeat(60_000) };
    let full: Promise<void> | undefined;
    let sent = 0;
    while (full === undefined) {
      writer.send(frame);
      sent += 1;
      await new Promise(setImmediate);
      full = waitUntilRead(response, 60_000);
    }
    expect(response.writableLength).toBeLessThan(200_000);
    const text = (await reader).text();
    await full;
    expect(waitUntilRead(response, 60_000)).toBeUndefined();
    writer.end();
    expect((await text).match(/^data: x{60000}$/gm)).toHaveLength(sent);
  });

  test('S3 a socket that accepts no data for too long is closed, and the writer’s wait ends', async () => {
    const { response, reader } = await responseTo();
    const closed = once(response, 'close');
    const writer = startSseResponse(response, { heartbeatMs: 60_000 });
    let full: Promise<void> | undefined;
    while (full === undefined) {
      writer.send({ data: 'x'.repeat(60_000) });
      await new Promise(setImmediate);
      full = waitUntilRead(response, 50);
    }
    await Promise.all([closed, full]);
    expect(response.writableFinished).toBe(false);
    await expect((await reader).text()).rejects.toThrow();
  });

  test('S3 a socket that accepts data slowly stays open', async () => {
    const { response, reader } = await responseTo();
    const writer = startSseResponse(response, { heartbeatMs: 60_000 });
    const began = performance.now();
    writer.send({ data: 'x'.repeat(24 * 1024 * 1024) });
    const full = waitUntilRead(response, 1_000);
    const body = (await reader).body?.getReader();
    let read = 0;
    for (let due = 0; read < 24 * 1024 * 1024; due += 256 * 1024) {
      while (read < due) read += (await body?.read())?.value?.length ?? Infinity;
      await pause(20);
    }
    await full;
    expect(performance.now() - began).toBeGreaterThan(1_500);
    expect(response.destroyed).toBe(false);
    expect(read).toBeLessThan(Infinity);
    await body?.cancel();
  });

  test('E4 the writer’s wait and the heartbeats end when the reader disconnects', async () => {
    const { response, reader } = await responseTo();
    const closed = once(response, 'close');
    const [started, cleared] = [
      jest.spyOn(globalThis, 'setInterval'),
      jest.spyOn(globalThis, 'clearInterval'),
    ];
    const writer = startSseResponse(response, { heartbeatMs: 1 });
    let full: Promise<void> | undefined;
    while (full === undefined) {
      writer.send({ data: 'x'.repeat(60_000) });
      await new Promise(setImmediate);
      full = waitUntilRead(response, 60_000);
    }
    await (await reader).body?.cancel();
    await Promise.all([closed, full]);
    const heartbeats = started.mock.results[started.mock.calls.findIndex(([, ms]) => ms === 1)]?.value;
    expect(heartbeats).toBeDefined();
    expect(cleared.mock.calls.some(([timer]) => timer === heartbeats)).toBe(true);
    writer.send({ data: 'late' });
    writer.end();
    expect(waitUntilRead(response, 60_000)).toBeUndefined();
  });
});

/** Ends a response with more bytes than the kernel accepts. */
async function unreadResponse(): Promise<ServerResponse> {
  const { response, reader } = await responseTo();
  response.end('x'.repeat(24 * 1024 * 1024));
  await reader;
  return response;
}

describe('a complete response that its client does not read', () => {
  test('S3 the response is closed after a time without progress', async () => {
    const response = await unreadResponse();
    await waitUntilRead(response, 50);
    expect(response.destroyed).toBe(true);
  });

  test.each(['principal', 'server'])(
    'S3 above the limit of the %s, only the newest unread response is closed',
    async (scope) => {
      const refused: string[] = [];
      const limit =
        scope === 'principal' ? { principal: 40, server: 1_000 } : { principal: 1_000, server: 60 };
      const unread = new UnreadResponses(60_000, (...about) => refused.push(about.join(' ')), limit);
      const [first, other, newest] = [await unreadResponse(), await unreadResponse(), await unreadResponse()];
      const waits = [unread.whenRead('ann', first), unread.whenRead('bob', other)];
      await unread.whenRead('ann', newest);
      expect([first.destroyed, other.destroyed, newest.destroyed]).toEqual([false, false, true]);
      expect(refused).toEqual([`unreadMegabytes ${scope}`]);
      first.destroy();
      other.destroy();
      await Promise.all(waits.map((wait) => wait ?? Promise.reject(new Error('the client has read'))));
    },
  );

  test('S3 above the limit, a small response arrives', async () => {
    const unread = new UnreadResponses(60_000, undefined, { principal: 0, server: 0 });
    const large = await unreadResponse();
    const waits = unread.whenRead('ann', large);
    const { response, reader } = await responseTo();
    response.end('x'.repeat(100_000));
    // The kernel takes a small response at once. So this one only seems to wait.
    Object.defineProperty(response, 'writableLength', { value: 100_000 });
    const small = unread.whenRead('ann', response);
    expect(await (await reader).text()).toHaveLength(100_000);
    await small;
    large.destroy();
    await waits;
  });
});
