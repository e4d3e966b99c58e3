/** Tests how the bridge uses an agent card: interface, version, extensions and certificate. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import { Message, type StreamResponse, TaskState } from '@a2a-js/sdk';
import { connectToAgent } from '../../../../bridge/agents/connection.ts';
import { requestFailure } from '../../../../bridge/agents/request-failure.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../../shared/protocol/tool-approval.ts';
import { FakeGemini } from '../../../support/fake-gemini.ts';
import { GeminiTask } from '../../../support/fake-gemini-task.ts';
import { listenOnLoopback, type LoopbackAddress } from '../../../support/listen-on-loopback.ts';

const CARD = '/.well-known/agent-card.json';
const servers: LoopbackAddress[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

interface StartedAgent {
  url: string;
  /** All requests except those for the card. */
  requests: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[];
}

interface AgentOptions {
  extensions?: readonly string[];
  /** A key and its certificate in PEM. */
  certificate?: string;
  tls?: TlsOptions;
  /** The states of the task `t`, one for each request. The last one stays. */
  states?: readonly string[];
  /** The events of the answer to each message. If absent, the agent has no streams. */
  stream?: readonly object[];
}

/** The interface of an agent. By default, its URL is that of the agent with the binding as path. */
type Interface = string | { protocolBinding: string; path?: string; url?: string; tenant?: string };

/** Starts an agent with these interfaces, in this order. The agent has one task, `t`, which is completed by default. */
async function startAgent(
  bindings: readonly Interface[],
  { extensions = [], certificate, tls = {}, states = ['TASK_STATE_COMPLETED'], stream }: AgentOptions = {},
): Promise<StartedAgent> {
  const agent: StartedAgent = { url: '', requests: [] };
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    response.setHeader('content-type', 'application/json');
    if (request.url === CARD) {
      response.end(
        JSON.stringify(cardAt(agent.url, bindings, { extensions, streaming: stream !== undefined })),
      );
      return;
    }
    const state = states[agent.requests.length] ?? states.at(-1);
    const task = { id: 't', contextId: 'c', status: { state } };
    agent.requests.push(request);
    const overRpc = request.method === 'POST';
    if (overRpc && stream !== undefined) {
      response.setHeader('content-type', 'text/event-stream');
      response.end(stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
      return;
    }
    // The SDK numbers its requests from 1.
    response.end(JSON.stringify(overRpc ? { jsonrpc: '2.0', id: 1, result: task } : task));
  };
  const server =
    certificate === undefined
      ? createServer(serve)
      : createTlsServer({ key: certificate, cert: certificate, ...tls }, serve);
  const listening = await listenOnLoopback(server);
  servers.push(listening);
  agent.url = `${certificate === undefined ? 'http' : 'https'}://${listening.host}`;
  return agent;
}

function cardAt(
  url: string,
  interfaces: readonly Interface[],
  { extensions, streaming }: { extensions: readonly string[]; streaming: boolean },
): object {
  return {
    name: 'agent',
    description: '',
    version: '1',
    supportedInterfaces: interfaces.map((each) => {
      const { path, ...given } = typeof each === 'string' ? { protocolBinding: each, path: each } : each;
      return { url: `${url}/${path ?? given.protocolBinding}`, protocolVersion: '1.0', ...given };
    }),
    capabilities: { streaming, extensions: extensions.map((uri) => ({ uri })) },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}

/** Sends a message to an agent that answers with these events. Returns the kinds of the events that the bridge reads. */
async function answerOf(stream: readonly object[]): Promise<(string | undefined)[]> {
  const agent = await startAgent(['HTTP+JSON'], { stream });
  const connection = await connectToAgent({ url: agent.url, headers: {} });
  const kinds: (string | undefined)[] = [];
  const message = Message.fromJSON({ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Work' }] });
  for await (const { payload } of connection.send(message, new AbortController().signal))
    kinds.push(payload?.$case);
  return kinds;
}

describe('the bridge’s connection to an agent', () => {
  test.each([
    [['JSONRPC', 'HTTP+JSON'], '/JSONRPC'],
    [['HTTP+JSON', 'JSONRPC'], '/HTTP+JSON/tasks/t'],
    [['GRPC', 'https://example.com/own', 'HTTP+JSON', 'JSONRPC'], '/HTTP+JSON/tasks/t'],
  ])(
    'A2A 1.0 §8.3.2: of the interfaces %j the bridge uses the first that it supports',
    async (bindings, path) => {
      const agent = await startAgent(bindings);
      const connection = await connectToAgent({ url: agent.url, headers: {} });
      await connection.task('t');
      expect(agent.requests.map(({ url }) => url?.split('?')[0])).toEqual([path]);
    },
  );

  test.each<[string, Interface[], string]>([
    [
      'the first that it supports, after one of gRPC without a scheme',
      [{ protocolBinding: 'GRPC', url: 'grpc.example.com:443' }, 'JSONRPC'],
      '/JSONRPC',
    ],
    [
      'the first of two with one binding',
      [
        { protocolBinding: 'JSONRPC', path: 'first' },
        { protocolBinding: 'JSONRPC', path: 'second' },
      ],
      '/first',
    ],
  ])('A2A 1.0 §8.3.2: the bridge uses %s', async (_which, interfaces, path) => {
    const agent = await startAgent(interfaces);
    const connection = await connectToAgent({ url: agent.url, headers: {} });
    await connection.task('t');
    expect(agent.requests.map(({ url }) => url)).toEqual([path]);
  });

  test('A2A 1.0 §8.3.2: each request has the tenant of its interface', async () => {
    const agent = await startAgent([{ protocolBinding: 'HTTP+JSON', path: 'rest', tenant: 'acme' }]);
    const connection = await connectToAgent({ url: agent.url, headers: {} });
    await connection.task('t');
    expect(agent.requests.map(({ url }) => url?.split('?')[0])).toEqual(['/rest/acme/tasks/t']);
  });

  test('each request has the card’s version and extensions as HTTP headers', async () => {
    const extensions = [TOOL_APPROVAL_EXTENSION, RESUMABLE_STREAM_EXTENSION];
    const agent = await startAgent(['JSONRPC'], { extensions });
    const connection = await connectToAgent({ url: agent.url, headers: {} });
    await connection.task('t');
    const headers = agent.requests[0]?.headers;
    expect(headers).toMatchObject({ 'a2a-version': '1.0' });
    // A2A 1.0 §9.2: commas separate several values.
    expect(String(headers?.['a2a-extensions']).split(/\s*,\s*/)).toEqual(extensions);
  });

  const unknown = { somethingNew: { taskId: 't' } };

  test('B1 the bridge skips an event of an unknown kind, and reads the task after it', async () => {
    const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };
    expect(await answerOf([unknown, { task }, unknown])).toEqual(['task']);
  });

  test('B1 if all events are of an unknown kind, the message may have arrived', async () => {
    const error: unknown = await answerOf([unknown]).catch((thrown: unknown) => thrown);
    expect(requestFailure(error, 'worker')).toMatchObject({
      arrival: 'maybe',
      error: { reason: 'AGENT_ERROR', message: expect.stringContaining('probably refused the message') },
    });
  });

  test('from an agent without streams the bridge reads the task, and requests no stream', async () => {
    const agent = await startAgent(['HTTP+JSON']);
    const connection = await connectToAgent({ url: agent.url, headers: {} });
    const events: unknown[] = [];
    await connection.follow({
      taskId: 't',
      after: null,
      signal: new AbortController().signal,
      onEvent: (event) => {
        events.push(event.payload?.$case);
        return 'more';
      },
    });
    expect(events).toEqual(['task']);
    expect(agent.requests.map(({ url }) => url?.split('?')[0])).toEqual(['/HTTP+JSON/tasks/t']);
  });

  test('from an agent without streams the bridge reads on, although the task still waits as before an answer', async () => {
    const waits = 'TASK_STATE_INPUT_REQUIRED';
    const agent = await startAgent(['HTTP+JSON'], { states: [waits, waits, 'TASK_STATE_COMPLETED'] });
    const connection = await connectToAgent({ url: agent.url, headers: {} });
    const states: unknown[] = [];
    const { signal } = new AbortController();
    const onEvent = (event: StreamResponse): 'more' => {
      states.push(event.payload?.$case === 'task' && event.payload.value.status?.state);
      return 'more';
    };
    await connection.follow({ taskId: 't', after: null, signal, onEvent });
    expect(states).toEqual([TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_COMPLETED]);
    expect(agent.requests).toHaveLength(3);
  });

  test('the list of gemini-cli’s agent leaves out a task that the agent has forgotten meanwhile', async () => {
    const agent = await FakeGemini.start(() => []);
    const kept = new GeminiTask('kept', undefined, agent.ways);
    // The agent lists this task, but does not find it by its id.
    agent.tasks.set('forgotten', new GeminiTask('forgotten', undefined, agent.ways));
    agent.tasks.set(kept.id, kept);
    const connection = await connectToAgent({ url: agent.url, headers: {} });
    expect(await connection.list({})).toMatchObject({ tasks: [{ contextId: 'kept' }], total: 1 });
    await agent.stop();
  });

  test('the error names the address of the card if only that one cannot be reached', async () => {
    const closed = await listenOnLoopback(createServer());
    await closed.close();
    const agent = await startAgent([{ protocolBinding: 'JSONRPC', url: `http://${closed.host}/rpc` }]);
    const connection = await connectToAgent({ url: agent.url, headers: {} });
    const thrown: unknown = await connection.task('t').catch((error: unknown) => error);
    const { error, arrival } = requestFailure(thrown, 'a');
    const where = `cannot be reached at http://${closed.host} (ECONNREFUSED), the address on its agent card`;
    expect(error.message).toContain(where);
    expect(arrival).toBe('no');
  });

  test('X1 the bridge sends no request to an agent with a self-signed certificate', async () => {
    const certificate = await readFile('test/fixtures/self-signed.pem', 'utf8');
    const agent = await startAgent(['JSONRPC'], { certificate });
    const refused = connectToAgent({ url: agent.url, headers: { authorization: 'Bearer secret' } });
    await expect(refused).rejects.toMatchObject({ cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
    expect(agent.requests).toEqual([]);
  });

  test('X1 the bridge sends no request to an agent that offers only TLS 1.1', async () => {
    const certificate = await readFile('test/fixtures/self-signed.pem', 'utf8');
    // OpenSSL offers TLS 1.1 at the security level 0 only.
    const tls = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const agent = await startAgent(['JSONRPC'], { certificate, tls });
    const refused = connectToAgent({ url: agent.url, headers: {} });
    await expect(refused).rejects.toMatchObject({
      cause: { code: 'EPROTO', message: expect.stringContaining('tlsv1 alert protocol version') },
    });
    expect(agent.requests).toEqual([]);
  });
});
