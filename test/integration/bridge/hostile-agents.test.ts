import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import type { RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { FakeAgent } from '../../support/fake-agent.ts';
import { hostileAgent, type HostileAgent } from '../../support/fake-agent-hostile.ts';
import { DELEGATE, LIST, program, stateDirectory } from './support/bridge-stage.ts';
import { RawClient, textOf, refusalOf } from './support/raw-client.ts';

const MEGABYTE = 1024 * 1024;

/**
 * Describes how each agent answers, and what the error must contain. With `card`, the agent answers requests for its
 * card in the same way.
 */
const HOSTILE: Record<string, { answer: RequestListener; says: RegExp; card?: boolean }> = {
  unauthorized: { answer: status(401), says: /does not accept the bridge's credentials.*"tokenEnv"/ },
  forbidden: { answer: status(403), says: /refused the credentials \(HTTP 403\)/ },
  'not-found': { answer: status(404), says: /HTTP 404.*Check its URL/ },
  'no-card': { answer: status(404), says: /HTTP 404.*Check its URL/, card: true },
  'card-locked': { answer: status(401), says: /does not accept the bridge's credentials/, card: true },
  'in-trouble': { answer: status(500), says: /has a server error \(HTTP 500/ },
  overloaded: { answer: status(503), says: /has a server error \(HTTP 503/ },
  html: {
    answer: (_, response) => send(response, 'text/html', '<html><title>Welcome</title></html>'),
    says: /answered with text\/html.*Check its URL.*Welcome/,
  },
  'html-card': {
    answer: (_, response) => send(response, 'text/html', '<html>hi</html>'),
    says: /text\/html/,
    card: true,
  },
  'half-json': {
    answer: (_, response) => send(response, 'application/json', '{"jsonrpc":"2.0","id'),
    says: /not A2A/,
  },
  'empty-card': {
    answer: (_, response) => send(response, 'application/json', '{}'),
    says: /agent card cannot be used/,
    card: true,
  },
  'null-card': {
    answer: (_, response) => send(response, 'application/json', 'null'),
    says: /agent card cannot be used/,
    card: true,
  },
  'half-event': {
    answer: (_, response) => send(response, 'text/event-stream', 'data: {"jsonrpc":"2.0","id":1,"resu\n\n'),
    says: /not A2A/,
  },
  'wrong-event': {
    answer: (_, response) =>
      send(response, 'text/event-stream', 'data: {"jsonrpc":"2.0","id":99,"result":{}}\n\n'),
    says: /not A2A/,
  },
  'no-event': { answer: (_, response) => send(response, 'text/event-stream', ''), says: /broke|not known/ },
  deep: {
    answer: (_, response) =>
      send(response, 'application/json', `${'['.repeat(100_000)}${']'.repeat(100_000)}`),
    says: /not A2A/,
  },
  'endless-line': {
    answer: (_, response) => pour(response, 'text/event-stream', 'data: '),
    says: /more than \d+ MB|exceeded the maximum/,
  },
  'endless-json': {
    answer: (_, response) => pour(response, 'application/json', '"'),
    says: /not A2A|more than \d+ MB/,
  },
  'endless-error': {
    answer: (_, response) => {
      response.statusCode = 500;
      pour(response, 'text/plain', '');
    },
    says: /HTTP 500/,
  },
  reset: { answer: (request) => request.socket.resetAndDestroy(), says: /connection .* broke/ },
};

describe('agents that answer incorrectly', () => {
  let client: RawClient;
  let good: FakeAgent;
  const agents = new Map<string, HostileAgent>();

  beforeAll(async () => {
    good = await FakeAgent.start({ onMessage: (task) => task.work().say('fine').complete() });
    for (const [name, { answer, card }] of Object.entries(HOSTILE)) {
      agents.set(name, await hostileAgent(answer, { card: card ?? false }));
    }
    const gone = await FakeAgent.start();
    const downUrl = gone.url;
    await gone.stop();
    const urls = [...agents].map(([name, { url }]) => [name, { url }]);
    const config = join(program.directory, 'config.json');
    await writeFile(
      config,
      JSON.stringify({
        bridge: {
          agents: {
            good: { url: good.url },
            ...Object.fromEntries(urls),
            down: { url: downUrl },
            nowhere: { url: 'http://agent.invalid' },
            tokenless: { url: good.url, tokenEnv: 'NOT_SET_ANYWHERE' },
          },
        },
      }),
    );
    const stateDir = await stateDirectory();
    client = await RawClient.start(program, { stateDir, args: ['--config', config] });
  });
  afterAll(async () => {
    await client.kill();
    await good.stop();
    for (const agent of agents.values()) await agent.stop();
  });

  test.each(Object.entries(HOSTILE))(
    'R63 B4 for an agent whose answer is "%s", the error says what to do',
    async (name, { says }) => {
      const result = await client.call(DELEGATE, { task: 'try', agent: name });
      expect(textOf(result)).toMatch(says);
      expect(textOf(result)).toContain(name);
      expect(result.isError).toBe(true);
      // The agent does not declare de-duplication, so the bridge must not send the message twice.
      expect(agents.get(name)?.posts()).toBeLessThanOrEqual(3);
      expect(client.process.exitCode).toBeNull();
    },
  );

  test('R63 B1 to an agent without de-duplication the bridge sends a message once, and the error says that the delivery is unknown', async () => {
    const sent: string[] = [];
    const agent = await hostileAgent((request) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        sent.push(body);
        request.socket.resetAndDestroy();
      });
    });
    const stateDir = await stateDirectory();
    const other = await RawClient.start(program, { stateDir, agentUrl: agent.url });
    const result = await other.call(DELEGATE, { task: 'once' });
    expect(textOf(result)).toContain('Whether the message arrived is not known');
    expect(sent.filter((body) => body.includes('SendStreamingMessage'))).toHaveLength(1);
    await other.kill();
    await agent.stop();
  });

  test('R63 B1 if the SDK cannot read the first event of an agent of A2A 0.3, the error says that the delivery is unknown', async () => {
    // The message of the status has no id, which A2A 0.3 demands.
    const begun = { state: 'working', message: { kind: 'message', role: 'agent', parts: [] } };
    const event = {
      kind: 'status-update',
      taskId: 'task-1',
      contextId: 'session-1',
      status: begun,
      final: false,
    };
    const agent = await hostileAgent(
      (request, response) =>
        request.method === 'GET'
          ? send(response, 'application/json', JSON.stringify(oldCard(agent.url)))
          : send(
              response,
              'text/event-stream',
              `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: event })}\n\n`,
            ),
      { card: true },
    );
    const stateDir = await stateDirectory();
    const other = await RawClient.start(program, { stateDir, agentUrl: agent.url });
    const result = await other.call(DELEGATE, { task: 'once' });
    expect(textOf(result)).toContain('message.messageId is required');
    expect(textOf(result)).toContain('Whether the message arrived is not known');
    expect(agent.posts()).toBe(1);
    await other.kill();
    await agent.stop();
  });

  test.each(['down', 'nowhere'])(
    'R63 if an agent is %s, the error tells the caller to check that the agent runs',
    async (name) => {
      const result = await client.call(DELEGATE, { task: 'try', agent: name });
      expect(refusalOf(result)).toMatch(
        /cannot be reached \((ECONNREFUSED|ENOTFOUND|EAI_AGAIN)\). Check that it runs/,
      );
    },
  );

  test('if an agent’s token variable is not set, the error names the variable', async () => {
    const result = await client.call(DELEGATE, { task: 'try', agent: 'tokenless' });
    expect(textOf(result)).toContain('NOT_SET_ANYWHERE');
  });

  test('R63 an agent that fails does not affect the results about other agents, and the bridge continues', async () => {
    const done = await client.call(DELEGATE, { task: 'work', agent: 'good' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'fine' });
    const listed = await client.call(LIST, {});
    expect(textOf(listed)).toContain('session-1');
    expect(textOf(listed)).toContain('No answer from agent "down"');
    const who = await client.call('get_agent_capabilities_and_version', {});
    expect(textOf(who)).toContain('Agent "good" can be reached');
    expect(textOf(who)).toContain('Agent "down" cannot be reached');
    expect(client.invalidLines).toEqual([]);
  });
});

function oldCard(url: string): object {
  return {
    name: 'old',
    description: '',
    version: '1',
    url,
    protocolVersion: '0.3.0',
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
}

function status(code: number): RequestListener {
  return (_, response) => {
    response.writeHead(code, { 'content-type': 'text/plain' }).end('go away');
  };
}

function send(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { 'content-type': type }).end(body);
}

/** Writes without end, as fast as the client reads. */
function pour(response: ServerResponse, type: string, start: string): void {
  response.setHeader('content-type', type);
  response.write(start);
  const chunk = 'x'.repeat(MEGABYTE);
  const more = (): void => {
    if (response.destroyed) return;
    if (response.write(chunk)) setImmediate(more);
    else response.once('drain', more);
  };
  more();
}
