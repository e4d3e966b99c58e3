/** Tests the problems that doctor finds, and the next steps that it gives. */
import { describe, expect, it } from '@jest/globals';
import { chmod, mkdir, writeFile, rename } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { readServerRecord, writeServerRecord } from '../../../shared/state/server-record.ts';
import { cleanUpLater } from '../../support/clean-up.ts';
import { hostileAgent } from '../../support/fake-agent-hostile.ts';
import { FakeAgent } from '../../support/fake-agent.ts';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { localModelServer } from '../../support/fake-local-models.ts';
import { startFakeModelEndpoint, wholeTurn } from '../../support/fake-model-endpoint.ts';
import { framesOf } from '../../support/fake-model-wires.ts';
import { launchServer, newServerHome } from '../../support/server-program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli } from './support/cli.ts';
import { type CliStage, cliStage } from './support/cli-stage.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';

const report = z.object({
  ok: z.boolean(),
  findings: z.array(
    z.object({ subject: z.string(), level: z.string(), message: z.string(), next: z.string().optional() }),
  ),
});
type Report = z.infer<typeof report>;

const examined = async (on: Pick<CliStage, 'json'>): Promise<Report> => report.parse(await on.json('doctor'));
const of = ({ findings }: Report, subject: string) => findings.find((each) => each.subject === subject);

/** Listens on a free port until the end of the test. Returns the URL. */
async function listening(listener: RequestListener): Promise<string> {
  const { port, close } = await listenOnLoopback(createServer(listener));
  cleanUpLater(close);
  return `http://127.0.0.1:${String(port)}`;
}

/** Creates a home directory without a server, with these settings. */
async function withSettings(settings: object, env: Readonly<Record<string, string>> = {}) {
  const home = await temporaryDirectory();
  const stateDir = join(home, 'state');
  await mkdir(stateDir, { mode: 0o700 });
  await writeFile(join(stateDir, 'config.json'), JSON.stringify(settings));
  const run = async (...args: string[]) => {
    const { code, stdout } = await cli(['doctor', '--json', '--state-dir', stateDir, ...args], { home, env });
    return { code, found: report.parse(JSON.parse(stdout)) };
  };
  return { run, examined: async (...args: string[]) => (await run(...args)).found };
}

/** Creates a home directory without a server, for checks of the clients in it. */
async function clientHome() {
  const home = await temporaryDirectory();
  const at = { home, env: { MCP_A2A_BRIDGE_HOME: join(home, 'state') } };
  const run = (...args: string[]) => cli(args, at);
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await run(...args, '--json')).stdout);
  return { at, run, json };
}

/** A result of this level whose message and next step contain these texts. */
function result(level: 'ok' | 'warn' | 'fail', message: string | RegExp, next?: string | RegExp): object {
  return { level, message: containing(message), ...(next !== undefined && { next: containing(next) }) };
}

function containing(text: string | RegExp): unknown {
  return typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text);
}

describe('the command doctor', () => {
  it('doctor reports no problem when server, token and client are correct', async () => {
    const on = await cliStage();
    await on.run('install', 'claude');
    const { code, stdout } = await on.run('doctor');
    expect(stdout).toMatch(/✓ local server: http[^]*✓ agent local: [^]*✓ Claude Code, user: /);
    expect(stdout).toContain('0 to correct');
    expect(stdout).toMatch(/✓ server settings: .*\n✓ model: offline/);
    expect(code).toBe(0);
    expect((await examined(on)).ok).toBe(true);
  });

  it('doctor does not start a server', async () => {
    const home = await temporaryDirectory();
    const stateDir = join(home, 'state');
    const { code, stdout } = await cli(['doctor', '--state-dir', stateDir], { home });
    expect(stdout).toContain('started when it is needed');
    expect(stdout).toContain(
      '→ Run: mcp-a2a-bridge install <client>, where <client> is one of: claude, gemini',
    );
    expect(code).toBe(0);
    expect(await readServerRecord(stateDir)).toBeUndefined();
  });

  it('doctor warns about variables that are similar to those of settings, because the programs ignore them', async () => {
    const agents = { team: { url: 'http://127.0.0.1:1', tokenEnv: 'MCP_A2A_BRIDGE_AGENTS_TOKEN' } };
    const variables = {
      MCP_A2A_BRIDGE_APROVALS: 'human-only',
      MCP_A2A_BRIDGE_AGENTS_TOKEN: 't',
      MCP_A2A_BRIDGE_AGENT: 'http://127.0.0.1:1',
      MCP_A2A_BRIDGE_X: '',
    };
    const bridge = await withSettings({ bridge: { agents } }, variables);
    // Kubernetes sets the last three for a Service with the name a2a-server.
    const server = await withSettings(
      {},
      {
        A2A_SERVER_FOUR_EYE: 'yes',
        A2A_SERVER_SERVICE_HOST: '10.0.0.1',
        A2A_SERVER_SERVICE_PORT: '41242',
        A2A_SERVER_PORT_41242_TCP_ADDR: '10.0.0.1',
      },
    );
    const found = [await bridge.examined('--offline'), await server.examined('--offline')];
    expect(found.map(({ findings }) => findings.filter(({ subject }) => subject === 'environment'))).toEqual([
      [
        {
          subject: 'environment',
          level: 'warn',
          message: 'the variable MCP_A2A_BRIDGE_APROVALS is ignored, because no setting has this name',
          next: 'Rename it to MCP_A2A_BRIDGE_APPROVALS, if you mean that setting.',
        },
        expect.objectContaining({ next: expect.stringContaining('MCP_A2A_BRIDGE_AGENTS') }),
      ],
      [expect.objectContaining({ next: 'Rename it to A2A_SERVER_FOUR_EYES, if you mean that setting.' })],
    ]);
  });

  it('X1 doctor fails when other users can read the token or the state directory', async () => {
    const on = await cliStage();
    const { stateDir } = on.server;
    await chmod(join(stateDir, 'token'), 0o644);
    await chmod(stateDir, 0o755);
    const { code, stdout } = await on.run('doctor', '--json');
    const found = report.parse(JSON.parse(stdout));
    expect(of(found, 'token')).toMatchObject(result('fail', '', 'chmod 600'));
    expect(of(found, 'state directory')).toMatchObject(result('fail', '', 'chmod 700'));
    expect(code).toBe(1);
  });

  it('R63 doctor gives the next step for an unreachable agent, a refused token and a server that is not an agent', async () => {
    const on = await cliStage();
    const config = join(on.server.stateDir, 'config.json');
    const url = await listening((_, response) => response.end('<html>'));
    const agents = {
      away: { url: 'http://127.0.0.1:1' },
      page: { url },
      closed: { url: on.server.url },
      unset: { url: on.server.url, tokenEnv: 'NOT_SET_ANYWHERE' },
    };
    await writeFile(config, JSON.stringify({ bridge: { agents } }));
    const found = await examined(on);
    for (const name of ['away', 'page', 'unset'])
      expect(of(found, `agent ${name}`)).toMatchObject(result('fail', '', /\S/));
    expect(of(found, 'agent unset')?.message).toContain('NOT_SET_ANYWHERE');
    expect(found.findings).toContainEqual(
      expect.objectContaining({ subject: 'agent closed', ...result('fail', 'does not accept') }),
    );
    expect(found.ok).toBe(false);
  });

  it('doctor reports a wrong clock as a warning, not a failure', async () => {
    const agent = await plainAgent('1.0');
    const home = await temporaryDirectory();
    cleanUpLater(() => agent.stop());
    const card = await (await fetch(new URL('/.well-known/agent-card.json', agent.url))).text();
    const url = await listening((_, response) => {
      response.setHeader('date', 'Thu, 01 Jan 2099 00:00:00 GMT');
      response.setHeader('content-type', 'application/json');
      response.end(card);
    });
    const args = ['doctor', '--json', '--agent-url', url];
    const { stdout, code } = await cli(args, { home });
    expect(report.parse(JSON.parse(stdout)).findings).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringMatching(/\d+ s ahead/) }),
    );
    expect(code).toBe(0);
  });

  it('doctor reports a port that another program uses, and a process that only looks like the server', async () => {
    const home = await temporaryDirectory();
    const stateDir = join(home, 'state');
    await mkdir(stateDir, { mode: 0o700 });
    const url = await listening((_, response) => response.writeHead(404).end());
    const { port } = new URL(url);
    const at = { home, env: { A2A_SERVER_PORT: port } };
    const taken = await cli(['doctor', '--state-dir', stateDir], at);
    expect(taken.stdout).toMatch(new RegExp(`port ${port} is taken[^]*A2A_SERVER_PORT`));
    expect(taken.code).toBe(1);
    await writeServerRecord(stateDir, {
      url,
      pid: process.pid,
      version: '0',
      startedAt: 'then',
    });
    const strange = await cli(['doctor', '--state-dir', stateDir], at);
    expect(strange.stdout).toContain(`process ${String(process.pid)}`);
    expect((await cli(['server', 'stop', '--state-dir', stateDir], at)).code).toBe(69);
  });

  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ['an unknown key', { modle: 'offline' }, /Unknown setting "modle"/],
    ['an invalid URL', { baseUrls: { openai: 'notaurl' } }, /Setting "baseUrls" .*URL/],
    ['an unknown model', { model: 'claude' }, /Setting "model"/],
    ['a rule that names no tool', { policy: [{ action: 'allow', tool: 'nope' }] }, /nope/],
    ['an MCP server without its variable', { mcpServers: { m: { command: '${GONE}' } } }, /GONE/],
  ])(
    '%s in the server settings: doctor reports the same error as the start of a server',
    async (_, server, says) => {
      const { code, found } = await (await withSettings({ server })).run('--offline');
      expect(of(found, 'server settings')).toMatchObject(result('fail', says));
      expect(code).toBe(1);
      const home = await newServerHome();
      await writeFile(join(home.stateDir, 'config.json'), JSON.stringify({ server }));
      const launched = launchServer({ home });
      await expect(launched.ready).rejects.toThrow(says);
      expect(await launched.stop()).toBe(78);
    },
  );

  it('for a model without its key, doctor names the model and the variable', async () => {
    const { examined: examine } = await withSettings({ server: { model: 'anthropic:some-model' } });
    expect(of(await examine(), 'model')).toMatchObject(
      result('fail', /anthropic:some-model.*ANTHROPIC_API_KEY/, 'ANTHROPIC_API_KEY'),
    );
  });

  it('doctor names the chosen model and tries it with one short request, but not with --offline', async () => {
    const endpoint = await startFakeModelEndpoint();
    cleanUpLater(() => endpoint.close());
    const env = { MCP_A2A_OPENAI_COMPATIBLE_URL: `${endpoint.url}/v1` };
    const { examined: examine } = await withSettings({ server: { model: 'openai-compatible:m' } }, env);
    endpoint.script({ type: 'turn', turn: { text: ['ready', ' or not'] } });
    expect(of(await examine(), 'model')).toMatchObject(result('ok', /^openai-compatible:m answers/));
    expect(of(await examine('--offline'), 'model')?.message).toBe('openai-compatible:m, not tried');
    expect(endpoint.received).toHaveLength(1);
    endpoint.script({ type: 'status', status: 401 });
    expect(of(await examine(), 'model')).toMatchObject(
      result('fail', /^openai-compatible:m refused the key \(401\)/),
    );
    endpoint.script({ type: 'status', status: 503 });
    expect(of(await examine(), 'model')).toMatchObject({ level: 'fail' });
    expect(endpoint.received).toHaveLength(3);
  });

  it('doctor’s trial requests one token, and gives the next step for a wrong key, an unknown model and a missing program', async () => {
    const endpoint = await startFakeModelEndpoint();
    cleanUpLater(() => endpoint.close());
    const model = 'anthropic:claude-sonet-4-5';
    const env = { ANTHROPIC_API_KEY: 'sk-secret-1' };
    const { examined: examine } = await withSettings(
      { server: { model, baseUrls: { anthropic: endpoint.url } } },
      env,
    );
    endpoint.script({ type: 'turn', turn: { text: ['r'], finish: 'length' } });
    expect(of(await examine(), 'model')?.level).toBe('ok');
    expect(endpoint.received[0]?.body).toMatchObject({ max_tokens: 1, tools: [{ name: 'finish' }] });
    const body = { type: 'error', error: { type: 'not_found_error', message: `model: ${model}` } };
    endpoint.script({ type: 'status', status: 404, body });
    expect(of(await examine(), 'model')).toMatchObject(
      result('fail', '', 'mcp-a2a-bridge model set anthropic:claude-sonnet-4-5'),
    );
    endpoint.script({ type: 'status', status: 401 });
    const refused = of(await examine(), 'model');
    expect(refused).toMatchObject({
      message: expect.stringContaining('Check ANTHROPIC_API_KEY'),
      next: expect.stringContaining('--key-command'),
    });
    expect(JSON.stringify(refused)).not.toContain('sk-secret-1');
    const vllm = await localModelServer({
      '/v1/models': JSON.stringify({ data: [{ id: 'm', max_model_len: 16_384 }] }),
      '/v1/chat/completions': framesOf('openai', wholeTurn({ text: ['ready'] })).join(''),
    });
    const small = await withSettings({ server: { model: 'vllm:m', baseUrls: { vllm: vllm.url } } });
    expect(of(await small.examined(), 'model')).toMatchObject(
      result('warn', 'a context window of 16384 tokens', '{"server":{"contextWindow":{"vllm:m":16384}}}'),
    );
    const absent = await withSettings({
      server: { model: 'vllm:m', baseUrls: { vllm: 'http://127.0.0.1:1' } },
    });
    expect(of(await absent.examined(), 'model')).toMatchObject(
      result('fail', '', 'Start the program that serves the model at http://127.0.0.1:1/v1'),
    );
    const away = await withSettings({
      server: { model: 'vllm:m', baseUrls: { vllm: 'http://0.0.0.0:1' } },
    });
    expect(of(await away.examined(), 'model')).toMatchObject({
      next: expect.stringContaining('Check that this machine reaches http://0.0.0.0:1/v1'),
    });
  });

  it('doctor reports a running server whose model differs from the settings', async () => {
    const on = await cliStage();
    const config = join(on.server.stateDir, 'config.json');
    await writeFile(config, JSON.stringify({ server: { model: 'ollama:m' } }));
    const found = report.parse(await on.json('doctor', '--offline'));
    expect(of(found, 'local server')).toMatchObject(
      result('warn', /runs with offline, and the settings here say ollama:m/, 'server stop'),
    );
  });

  it('R28 doctor reports a running server that cannot write its journal', async () => {
    const on = await cliStage();
    await rename(join(on.server.stateDir, 'journal.db'), join(on.server.stateDir, 'moved.db'));
    const found = report.parse(await on.json('doctor', '--offline'));
    expect(of(found, 'local server')).toMatchObject(
      result('fail', 'cannot write its journal', 'mcp-a2a-bridge logs'),
    );
  });

  it('R100 doctor reports an agent that serves its card but whose endpoint does not respond', async () => {
    const gone = await FakeAgent.start();
    const { url: endpoint } = gone;
    await gone.stop();
    const agent = await hostileAgent(() => undefined, { endpoint });
    cleanUpLater(() => agent.stop());
    const { examined: examine } = await withSettings({ bridge: { agents: { half: { url: agent.url } } } });
    expect((await examine()).findings).toContainEqual(
      expect.objectContaining({
        subject: 'agent half',
        ...result('fail', 'its card answers, but its endpoint does not'),
      }),
    );
  });

  it('doctor reports the approval webhook, and posts to it only if the person requests that', async () => {
    const bodies: string[] = [];
    const origin = await listening((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => bodies.push(text));
      request.on('end', () => response.writeHead(204).end());
    });
    const url = `${origin}/hook/secret-path`;
    const settings = { bridge: { autoStart: false, approvalWebhook: { url, secretEnv: 'HOOK_SECRET' } } };
    const unset = await withSettings(settings);
    expect(of(await unset.examined(), 'approval webhook')).toMatchObject(result('fail', 'HOOK_SECRET'));
    const { examined: examine } = await withSettings(settings, { HOOK_SECRET: 'x'.repeat(24) });
    const quiet = of(await examine(), 'approval webhook');
    expect(quiet).toMatchObject(result('ok', 'not tried'));
    expect(quiet?.message).not.toContain('secret-path');
    expect(bodies).toEqual([]);
    expect(of(await examine('--webhook'), 'approval webhook')).toMatchObject(
      result('ok', 'took the test post'),
    );
    expect(bodies.map((body) => z.object({ type: z.string() }).parse(JSON.parse(body)).type)).toEqual([
      'approval.test',
    ]);
  });

  it('doctor reports a client’s settings that are invalid, or that start a missing file', async () => {
    const on = await clientHome();
    await writeFile(join(on.at.home, '.mcp.json'), '{');
    const gone = { command: process.execPath, args: ['/gone/bridge/main.js'] };
    await writeFile(join(on.at.home, '.claude.json'), JSON.stringify({ mcpServers: { b: gone } }));
    const found = await examined(on);
    expect(of(found, 'Claude Code, project')).toMatchObject({ level: 'fail' });
    expect(of(found, 'Claude Code, user')).toMatchObject(result('fail', '/gone/bridge/main.js', 'install'));
  });

  it('doctor --webhook says that the settings name no webhook', async () => {
    const on = await clientHome();
    const { stdout } = await on.run('doctor', '--offline', '--webhook');
    expect(stdout).toContain('approval webhook: the settings name none, so no test post was sent');
  });

  it('doctor stops at invalid settings before any check', async () => {
    const home = await temporaryDirectory();
    const { code, stderr } = await cli(['doctor', '--wait-seconds', 'long'], { home });
    expect(stderr).toContain('waitSeconds');
    expect(code).toBe(78);
  });
});
