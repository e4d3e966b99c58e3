/** Tests response streams of MCP over HTTP that break and are resumed (MCP 2025-11-25), with the built bridge. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import { rowIn, rowsIn } from '../../support/bridge-database.ts';
import { FakeAgent } from '../../support/fake-agent.ts';
import { type BridgeProgram, builtBridge } from './support/bridge-program.ts';
import { type HttpBridge, startHttpBridge } from './support/http-bridge.ts';

const answer = z.looseObject({
  id: z.number(),
  result: z.looseObject({ structuredContent: z.looseObject({ state: z.string() }) }),
});

interface OpenStream {
  /** Returns the next event, or undefined at the end of the stream. */
  next: () => Promise<EventSourceMessage | undefined>;
  /** Returns the delay before a reconnect that the server requested, in milliseconds. */
  retry: () => number | undefined;
  break: () => void;
}

function streamOf(response: Response, connection: AbortController): OpenStream {
  const seen: EventSourceMessage[] = [];
  let retry: number | undefined;
  const parser = createParser({ onEvent: (event) => seen.push(event), onRetry: (ms) => (retry = ms) });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return {
    next: async () => {
      while (seen.length === 0) {
        const piece = await reader?.read();
        if (piece?.value === undefined) return undefined;
        parser.feed(piece.value);
      }
      return seen.shift();
    },
    retry: () => retry,
    break: () => connection.abort(),
  };
}

async function send(bridge: HttpBridge, message: object, more: Record<string, string> = {}) {
  const connection = new AbortController();
  const headers = {
    ...bridge.credentials,
    ...more,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const response = await fetch(bridge.url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...message }),
    signal: connection.signal,
  });
  return { response, stream: streamOf(response, connection) };
}

async function resume(bridge: HttpBridge, session: Record<string, string>, lastEventId: string) {
  const connection = new AbortController();
  const headers = {
    ...bridge.credentials,
    ...session,
    accept: 'text/event-stream',
    'last-event-id': lastEventId,
  };
  const response = await fetch(bridge.url, { headers, signal: connection.signal });
  return { response, stream: streamOf(response, connection) };
}

describe('a response stream of MCP over HTTP', () => {
  let program: BridgeProgram;
  const open: { close: () => Promise<unknown> }[] = [];

  beforeAll(async () => {
    program = await builtBridge();
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });
  afterAll(() => program.remove());

  /** Starts a bridge, and an MCP session of this revision. The agent completes its task when the gate resolves. */
  async function sessionOf(revision: string) {
    const gate = new Deferred<void>();
    const agent = await FakeAgent.start({
      onMessage: (task) => {
        task.work();
        void gate.promise.then(() => task.say('done').complete());
      },
    });
    const stateDir = await mkdtemp(join(program.directory, 'state-'));
    const args = ['--log-level', 'debug'];
    const bridge = await startHttpBridge(program, { stateDir, agentUrl: agent.url, args });
    open.push({ close: () => bridge.kill() }, { close: () => agent.stop() });
    const begun = await send(bridge, {
      method: 'initialize',
      params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '0' } },
    });
    const session = {
      'mcp-session-id': begun.response.headers.get('mcp-session-id') ?? '',
      'mcp-protocol-version': revision,
    };
    const call = (task: string) =>
      send(
        bridge,
        { method: 'tools/call', params: { name: 'delegate_task_to_assistant', arguments: { task } } },
        session,
      );
    return { bridge, agent, gate, session, call, begun };
  }

  test('for 2025-11-25, a response stream starts with an event that has an id, no data and a retry delay', async () => {
    const { begun, call, gate } = await sessionOf('2025-11-25');
    for (const { stream } of [begun, await call('go')]) {
      expect(await stream.next()).toMatchObject({ id: expect.stringMatching(/^\S+_\d+$/), data: '' });
      expect(stream.retry()).toBe(1_000);
    }
    gate.resolve();
  });

  test('for 2025-06-18, a response stream starts with its message, because those clients accept no event without data', async () => {
    const { begun, call, gate } = await sessionOf('2025-06-18');
    gate.resolve();
    expect((await begun.stream.next())?.data).toMatch(/"protocolVersion":"2025-06-18"/);
    expect((await (await call('go')).stream.next())?.data).toMatch(/"state":"completed"/);
  });

  test('after a break a client resumes a response stream with Last-Event-ID, and receives the result once', async () => {
    const { bridge, agent, gate, session, call } = await sessionOf('2025-11-25');
    const { stream } = await call('go');
    const begun = await stream.next();
    await agent.asked('SendStreamingMessage');
    stream.break();
    gate.resolve();
    const resumed = await resume(bridge, session, begun?.id ?? '');
    expect(resumed.response.status).toBe(200);
    const told = await resumed.stream.next();
    expect(answer.parse(JSON.parse(told?.data ?? ''))).toMatchObject({
      id: 7,
      result: { structuredContent: { state: 'completed' } },
    });
    expect(await resumed.stream.next()).toBeUndefined();
    const after = await resume(bridge, session, told?.id ?? '');
    expect(after.response.status).toBe(200);
    expect(await after.stream.next()).toBeUndefined();
  });

  test('B3 a later call confirms a result only if its response was complete or was resumed', async () => {
    const { bridge, agent, gate, session, call } = await sessionOf('2025-11-25');
    const { stream } = await call('go');
    const begun = await stream.next();
    await agent.asked('SendStreamingMessage');
    stream.break();
    await bridge.logged(/"reason":"client-gone"/);
    gate.resolve();
    await bridge.logged(/"state":"completed"/);
    const list = async (id: number) => {
      const params = { name: 'list_all_active_sessions', arguments: {} };
      const listed = await send(bridge, { method: 'tools/call', id, params }, session);
      while ((await listed.stream.next()) !== undefined);
    };
    await list(8);
    await list(9);
    const collected = `SELECT task_id FROM delegations WHERE state = 'collected'`;
    expect(await rowsIn(bridge.stateDir, collected)).toEqual([]);
    const resumed = await resume(bridge, session, begun?.id ?? '');
    while ((await resumed.stream.next()) !== undefined);
    await list(10);
    await rowIn(bridge.stateDir, collected);
  });

  test('if a client resumes a response stream while the first connection is open, the stream uses the newer connection', async () => {
    const { bridge, agent, gate, session, call } = await sessionOf('2025-11-25');
    const { stream } = await call('go');
    const begun = await stream.next();
    await agent.asked('SendStreamingMessage');
    const resumed = await resume(bridge, session, begun?.id ?? '');
    expect(resumed.response.status).toBe(200);
    expect(await stream.next()).toBeUndefined();
    gate.resolve();
    expect((await resumed.stream.next())?.data).toMatch(/"state":"completed"/);
  });

  test('S2 a resume with an unknown event id gets 400, and so does a resume after a cancel of the call', async () => {
    const { bridge, agent, session, call } = await sessionOf('2025-11-25');
    expect((await resume(bridge, session, 'elsewhere_1')).response.status).toBe(400);
    const { stream } = await call('go');
    const begun = await stream.next();
    await agent.asked('SendStreamingMessage');
    const cancel = { method: 'notifications/cancelled', params: { requestId: 7 }, id: undefined };
    expect((await send(bridge, cancel, session)).response.status).toBe(202);
    expect(await stream.next()).toBeUndefined();
    expect((await resume(bridge, session, begun?.id ?? '')).response.status).toBe(400);
  });
});
