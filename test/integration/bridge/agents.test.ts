import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import { FakeAgent } from '../../support/fake-agent.ts';
import { plainAgent, type PlainAgent } from '../../support/fake-agent-plain.ts';
import { DECIDE, DELEGATE, LIST, WAIT, program, stateDirectory } from './support/bridge-stage.ts';
import { RawClient, textOf, refusalOf, sessionOf } from './support/raw-client.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';

const SECRET = 'tok-3f2a9c1e7b4d';

const listening = async (server: ReturnType<typeof createServer>): Promise<string> => {
  const { host } = await listenOnLoopback(server);
  return `http://${host}`;
};

describe('several configured agents', () => {
  let client: RawClient;
  let ours: FakeAgent;
  let plain: Readonly<Record<string, PlainAgent>>;
  const ends: (() => Promise<unknown> | void)[] = [];

  beforeAll(async () => {
    ours = await FakeAgent.start({
      token: SECRET,
      onMessage: (task, text) => task.work().say(`did ${text}`).complete(),
    });
    ends.push(() => ours.stop());
    plain = {
      'plain-1.0-rpc': await plainAgent('1.0'),
      'plain-0.3-rpc': await plainAgent('0.3'),
      'plain-1.0-rest': await plainAgent('1.0', { binding: 'HTTP+JSON' }),
      'plain-0.3-rest': await plainAgent('0.3', { binding: 'HTTP+JSON' }),
    };
    for (const agent of Object.values(plain)) ends.push(() => agent.stop());
    const silent = createServer();
    const silentUrl = await listening(silent);
    ends.push(() => void silent.close());
    const gone = createServer();
    const goneUrl = await listening(gone);
    await new Promise((resolve) => gone.close(resolve));
    // This server answers 401 to each request, and repeats the token that it received.
    const echo = createHttpServer((request, response) => {
      response.writeHead(401).end(`no such token: ${String(request.headers.authorization)}`);
    });
    const echoUrl = await listening(echo);
    ends.push(() => void echo.close());
    const stateDir = await stateDirectory();
    const agents = {
      ours: {
        url: ours.url,
        tokenCommand: [process.execPath, '-e', `console.log('${SECRET}')`],
        headers: { 'x-key': { env: 'OUR_KEY' }, 'x-tenant': 'acme' },
        workspaces: { '/home/ada': '/srv/ada' },
      },
      ...Object.fromEntries(Object.entries(plain).map(([name, { url }]) => [name, { url }])),
      silent: { url: silentUrl },
      gone: { url: goneUrl },
      elsewhere: {
        url: ours.url,
        cardUrl: `${ours.url}/.well-known/agent-card.json`,
        tokenCommand: [process.execPath, '-e', `console.log('${SECRET}'); process.exit(9)`],
      },
      echo: { url: echoUrl, tokenEnv: 'ECHO_TOKEN' },
    };
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ bridge: { agents } }));
    client = await RawClient.start(program, {
      stateDir,
      args: ['--log-level', 'trace'],
      workspaces: ['/home/ada/app'],
      env: { OUR_KEY: 'key-from-env', ECHO_TOKEN: SECRET },
    });
  });
  afterAll(async () => {
    await client.kill();
    for (const end of ends) await end();
  });

  test('a call without an agent goes to the first agent, with the agent’s token, headers and workspace path', async () => {
    const done = await client.call(DELEGATE, { task: 'it', workspace: '/home/ada/app' });
    expect(done.structuredContent).toMatchObject({ agent: 'ours', state: 'completed', output: 'did it' });
    const sent = ours.requests.find(({ method }) => method === 'SendStreamingMessage');
    expect(sent?.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      'x-key': 'key-from-env',
      'x-tenant': 'acme',
    });
    expect(sent?.params['message']).toMatchObject({
      metadata: { [TOOL_APPROVAL_EXTENSION]: { workspace: '/srv/ada/app' } },
    });
    const listed = await client.call(LIST, { agent: 'ours' });
    expect(listed.structuredContent).toMatchObject({ sessions: [{ workspace: '/home/ada/app' }] });
    expect(textOf(listed)).toContain('completed — it in /home/ada/app');
  });

  test('the bridge sends no session id with a delegation, because the agent chooses it', async () => {
    await client.call(DELEGATE, { task: 'something else' });
    const sent = ours.requests.findLast(({ method }) => method === 'SendStreamingMessage');
    expect(sent?.params['message']).toMatchObject({ messageId: expect.any(String) });
    expect(sent?.params['message']).not.toHaveProperty('contextId');
  });

  test.each(['plain-1.0-rpc', 'plain-0.3-rpc', 'plain-1.0-rest', 'plain-0.3-rest'])(
    'the bridge uses the version and the protocol binding from the agent card: %s',
    async (agent) => {
      const asked = await client.call(DELEGATE, { task: 'Greet me', agent });
      expect(asked.structuredContent).toMatchObject({ agent, question: { text: 'What is your name?' } });
      const [, callId, shown] = /callId "([^"]+)", shown "([^"]+)"/.exec(textOf(asked)) ?? [];
      const sessionId = sessionOf(asked);
      const answer = { sessionId, callId, shown, decision: 'answer', answer: 'Ada' };
      const answered = await client.call(DECIDE, answer);
      expect(answered.structuredContent).toMatchObject({ state: 'completed', output: 'Hello, Ada!' });
      expect(plain[agent]?.received).toEqual(['Greet me', 'Ada']);
    },
  );

  test('an agent that is down, silent or refuses requests does not change the results about the other agents', async () => {
    const health = await client.call('get_agent_capabilities_and_version', {});
    const reachable = Object.fromEntries(
      [...textOf(health).matchAll(/^Agent "([^"]+)" (can be|cannot be)/gm)].map(([, name, how]) => [
        name,
        how === 'can be',
      ]),
    );
    expect(reachable).toEqual({
      ours: true,
      'plain-1.0-rpc': true,
      'plain-0.3-rpc': true,
      'plain-1.0-rest': true,
      'plain-0.3-rest': true,
      silent: false,
      gone: false,
      elsewhere: false,
      echo: false,
    });
    const listed = await client.call(LIST, {});
    for (const agent of ['ours', ...Object.keys(plain)]) expect(textOf(listed)).toContain(`(${agent}, task `);
    expect(textOf(listed)).toContain('No answer from agent "silent": Agent "silent" did not answer in time');
    expect(textOf(listed)).toMatch(/No answer from agent "gone": .*ECONNREFUSED/);
    const unknown = await client.call(WAIT, { sessionId: 'nowhere' });
    expect(textOf(unknown)).toMatch(/^There is no session "nowhere".*Not every agent answered/);
  });

  test('no result and no log contains the token, even if an agent repeats the token in its text', async () => {
    const failed = await client.call(DELEGATE, { task: 'it', agent: 'elsewhere' });
    expect(textOf(failed)).toMatch(/command for its token .* ended with exit code 9/);
    const refused = await client.call(DELEGATE, { task: 'it', agent: 'echo' });
    expect(refusalOf(refused)).toContain('ECHO_TOKEN');
    const consulted = await client.call('quick_consultation_for_second_opinion', {
      question: 'q',
      agent: 'echo',
    });
    for (const each of [failed, refused, consulted]) expect(JSON.stringify(each)).not.toContain(SECRET);
    expect(client.stderr).not.toContain(SECRET);
    expect(client.invalidLines).toEqual([]);
  });
});
