/** Tests Streamable HTTP: forgotten sessions and closed sockets. */
import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { cleanUpLater } from '../../support/clean-up.ts';
import { signal } from '../../support/signal.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';
import { startPeer } from '../../support/mcp-peer/peer-process.ts';
import { isReady, mcpStage } from '../../support/mcp-peer/mcp-stage.ts';

const asked = z.looseObject({ id: z.unknown().optional(), method: z.string().optional() });

/** Answers a call with JSON that is cut off. */
function cutOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"jsonrpc":', () => response.destroy());
}

const result = { content: [{ type: 'text', text: 'noted' }] };

function sendJson(response: ServerResponse, message: object): void {
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

/** Sends an event, and leaves the stream open. */
function openStream(response: ServerResponse, message: object): void {
  response
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

/** Starts a server with two tools. @param answerCall answers each call of a tool */
async function serverWithAnswer(answerCall: (response: ServerResponse, id: unknown) => void) {
  let calls = 0;
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    void text(request).then((sent) => {
      const { id, method } = asked.parse(JSON.parse(sent));
      const reply = (message: object): void => sendJson(response, { id, ...message });
      switch (method) {
        case 'initialize': {
          const serverInfo = { name: 'short', version: '1' };
          return reply({
            result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
          });
        }
        case 'tools/list':
          return reply({
            result: {
              tools: [
                { name: 'note', inputSchema: { type: 'object' } },
                { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
              ],
            },
          });
        case 'tools/call':
          calls += 1;
          return answerCall(response, id);
        case undefined:
        default:
          return id === undefined
            ? response.writeHead(202).end()
            : reply({ error: { code: -32601, message: 'unknown method' } });
      }
    });
    return undefined;
  });
  const { host, close } = await listenOnLoopback(server);
  cleanUpLater(close);
  const stage = await mcpStage({ peer: { url: `http://${host}/mcp`, trustHints: true } });
  await stage.status(isReady);
  return { stage, calls: () => calls };
}

async function overHttp() {
  const peer = await startPeer('http');
  const stage = await mcpStage({ peer: { url: peer.url } });
  await stage.status(isReady);
  return { peer, stage };
}

describe('an MCP server over Streamable HTTP', () => {
  it('R82 a server gets a new MCP session after its restart: the client sends an undelivered request again, once', async () => {
    const { peer, stage } = await overHttp();
    expect(await stage.call('note', { text: 'before' })).toMatch(/before/);
    await peer.kill();
    const next = await peer.again();
    expect(await stage.call('note', { text: 'after' })).toMatch(/after/);
    expect(await next.seen()).toMatchObject({ sessions: 1, calls: { note: 1 } });
  });

  it('R82 if the stream for notifications learns first that the session is lost, a call that was already sent runs once', async () => {
    const calls: string[] = [];
    let sessions = 0;
    let valid: string | undefined;
    let notifications: ServerResponse | undefined;
    let heldCall: ServerResponse | undefined;
    const streamOpened = signal();
    const streamRefused = signal();
    const server = createServer((request, response) => {
      const current = valid !== undefined && request.headers['mcp-session-id'] === valid;
      const json = (status: number, body?: object): void => {
        response.writeHead(status, {
          'content-type': 'application/json',
          ...(valid !== undefined && { 'mcp-session-id': valid }),
        });
        response.end(body === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', ...body }));
      };
      if (request.method === 'DELETE') return response.writeHead(200).end();
      if (request.method === 'GET') {
        if (!current) return response.writeHead(404).end('no session', () => streamRefused.happen());
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        notifications = response;
        streamOpened.happen();
        return undefined;
      }
      void text(request).then((body) => {
        const { id, method } = asked.parse(JSON.parse(body === '' ? '{}' : body));
        if (method === 'initialize') {
          sessions += 1;
          valid = `s${sessions}`;
          const serverInfo = { name: 'forgetful', version: '1' };
          return json(200, {
            id,
            result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
          });
        }
        if (method === 'server/discover')
          return json(200, { id, error: { code: -32601, message: 'unknown method' } });
        // The answer to this call comes after the answer to the stream.
        if (!current && method === 'tools/call') return (heldCall = response);
        if (!current) return response.writeHead(404).end('no session');
        if (method === 'tools/list')
          return json(200, { id, result: { tools: [{ name: 'note', inputSchema: { type: 'object' } }] } });
        if (method === 'tools/call') {
          calls.push(valid ?? '');
          return json(200, { id, result: { content: [{ type: 'text', text: 'noted' }] } });
        }
        return json(202);
      });
      return undefined;
    });
    const { host, close } = await listenOnLoopback(server);
    try {
      const stage = await mcpStage({ peer: { url: `http://${host}/mcp` } });
      await stage.status(isReady);
      await streamOpened.happened;
      // The server forgets the session, and closes the stream. The client opens the stream again half a second later.
      valid = undefined;
      notifications?.end();
      const called = stage.call('note', { text: 'after' });
      await streamRefused.happened;
      await Promise.race([
        once(heldCall ?? server, 'close'),
        new Promise((resolve) => setTimeout(resolve, 200)),
      ]);
      heldCall?.writeHead(404).end('no session');
      expect(await called).toContain('noted');
      expect(calls).toEqual(['s2']);
      await stage.close();
    } finally {
      await close();
    }
  });

  it('E2 if the answer to a call is cut off, the call does not run again, and its outcome is unknown', async () => {
    const { stage, calls } = await serverWithAnswer(cutOff);
    await expect(stage.call('note')).rejects.toThrow(
      /connection to the MCP server peer was lost while note ran: gave no readable answer \(.*\)\. The outcome of the call is unknown\.$/,
    );
    expect(calls()).toBe(1);
  });

  it('if the answer to a read-only call is cut off, the call runs up to three times', async () => {
    const { stage, calls } = await serverWithAnswer(cutOff);
    await expect(stage.call('look')).rejects.toThrow(/None of 3 attempts got an answer\.$/);
    expect(calls()).toBe(3);
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['HTTP 202', (response) => response.writeHead(202).end()],
    ['JSON with another id', (response) => sendJson(response, { id: 987, result })],
    [
      'JSON without a response',
      (response) => sendJson(response, { method: 'notifications/message', params: {} }),
    ],
    ['a stream with another id that stays open', (response) => openStream(response, { id: 987, result })],
    [
      'a stream with the id of an answered request that stays open',
      (response) => openStream(response, { id: 1, result }),
    ],
  ])(
    'a call that the server answers with %s fails at once, and its outcome is unknown',
    async (_, answer) => {
      const { stage, calls } = await serverWithAnswer(answer);
      await expect(stage.call('note')).rejects.toThrow(
        /^The connection .* The outcome of the call is unknown\.$/,
      );
      expect(calls()).toBe(1);
    },
  );

  it('a call whose redirect has a JSON body gets the answer of the stream behind the redirect', async () => {
    const { stage, calls } = await serverWithAnswer((response, id) => {
      if (calls() === 2) openStream(response, { id, result });
      else
        response
          .writeHead(307, { location: '/moved', 'content-type': 'application/json' })
          .end('{"moved":1}');
    });
    expect(await stage.call('note')).toContain('noted');
  });

  it('a late answer to a stopped call does not end the call whose stream carries it', async () => {
    const ids: unknown[] = [];
    const stop = new AbortController();
    const { stage } = await serverWithAnswer((response, id) => {
      ids.push(id);
      if (ids.length === 1) return stop.abort();
      openStream(response, { id: ids[0], result: { content: [] } });
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    });
    await expect(stage.call('note', {}, { signal: stop.signal })).rejects.toThrow();
    expect(await stage.call('note')).toContain('noted');
  });

  it('R83 the client closes a stream whose answer has another id than the call', async () => {
    const closed: Promise<unknown>[] = [];
    const { stage } = await serverWithAnswer((response) => {
      closed.push(once(response, 'close'));
      openStream(response, { id: 987, result });
    });
    await expect(stage.call('note')).rejects.toThrow('The outcome of the call is unknown.');
    expect(closed).toHaveLength(1);
    await Promise.all(closed);
  });

  it('an error without an id, and an answer whose id is the number as text, belong to the call of their response', async () => {
    const failing = await serverWithAnswer((response) =>
      sendJson(response, { error: { code: -32600, message: 'no such form' } }),
    );
    await expect(failing.stage.call('note')).rejects.toThrow('no such form');
    const lax = await serverWithAnswer((response, id) => sendJson(response, { id: String(id), result }));
    expect(await lax.stage.call('note')).toContain('noted');
  });

  it('R83 after a stopped call the client keeps no socket for it, and after closing it keeps no socket at all', async () => {
    const { peer, stage } = await overHttp();
    const stop = new AbortController();
    const never = stage.call('never', {}, { signal: stop.signal }).catch(() => 'stopped');
    while ((await peer.seen()).calls['never'] !== 1);
    const before = (await peer.seen()).open;
    stop.abort();
    expect(await never).toBe('stopped');
    while ((await peer.seen()).open >= before);
    expect(JSON.parse(await stage.call('cancelled'))).toHaveLength(1);
    await stage.close();
    while ((await peer.seen()).open > 0);
  });
});
