import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgentRegistry } from '../../../../bridge/startup/configured-agents.ts';
import { createBridgeCommandLine } from '../../../../bridge/cli/program.ts';
import {
  BRIDGE_SETTINGS,
  readBridgeSettings,
  UNFLAGGED_BRIDGE_SETTINGS,
} from '../../../../bridge/settings/settings.ts';

const places = { bridgeScript: '/bridge.js', serverScript: '/server.js', cardFile: '/card.html' };

describe("the bridge's settings", () => {
  let stateDir: string;
  beforeEach(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'settings-'));
  });
  afterEach(() => rm(stateDir, { recursive: true, force: true }));

  test('the settings have default values that work without configuration', async () => {
    expect(await readBridgeSettings({ stateDir }, {})).toEqual({
      agentUrl: undefined,
      agentTokenEnv: 'MCP_A2A_BRIDGE_AGENT_TOKEN',
      agents: {},
      waitSeconds: undefined,
      toolPrefix: '',
      workspace: process.cwd(),
      workspaceFromRoots: false,
      allowWorkspace: [],
      desktopNotifications: false,
      autoStart: true,
      logLevel: 'info',
      stdio: true,
      http: undefined,
      httpAllowOrigin: [],
      onCancel: 'detach',
      onDisconnect: 'detach',
      preview: [],
      approvals: 'auto',
      forms: 'none',
      fastestAnswerSeconds: 1,
      approvalWebhook: undefined,
      stateDir,
      configFile: undefined,
    });
  });

  test('flags override the environment, which overrides the file', async () => {
    await writeFile(
      join(stateDir, 'config.json'),
      JSON.stringify({ bridge: { waitSeconds: 1, toolPrefix: 'f_', logLevel: 'error' } }),
    );
    const env = {
      MCP_A2A_BRIDGE_WAIT_SECONDS: '2',
      MCP_A2A_BRIDGE_TOOL_PREFIX: 'e_',
      CLAUDE_PROJECT_DIR: '/project',
    };
    const settings = await readBridgeSettings({ stateDir, waitSeconds: '3' }, env);
    expect(settings).toMatchObject({
      waitSeconds: 3,
      toolPrefix: 'e_',
      logLevel: 'error',
      workspace: '/project',
    });
  });

  test.each([
    [true, 41243],
    ['yes', 41243],
    ['no', undefined],
    [false, undefined],
    ['0', 0],
    ['8080', 8080],
    [8080, 8080],
  ])('the value %p of "http" makes HTTP listen on the port %p', async (given, port) => {
    expect((await readBridgeSettings({ stateDir, http: given }, {})).http).toBe(port);
  });

  test.each([
    [{ stateDir: '~/state' }, {}],
    [{ config: '~\\config.json' }, {}],
    [{}, { MCP_A2A_BRIDGE_HOME: '~' }],
  ])(
    'a path with a tilde that no shell has replaced is refused: flags %j, environment %j',
    async (flags, env) => {
      await expect(readBridgeSettings({ ...flags }, env)).rejects.toThrow(/^The path ~\S* begins with "~"/);
    },
  );

  test.each([
    [{ http: '65536' }, /"http".*a port from 0 to 65535/],
    [{ http: '-1' }, /"http"/],
    [{ http: 'on' }, /"http"/],
    [{ http: '80x' }, /"http"/],
    [{ stdio: 'no' }, /serves no client\. Add --http/],
    [{ httpAllowOrigin: ['https://page.example/path'] }, /httpAllowOrigin/],
    [{ httpAllowOrigin: ['*'] }, /httpAllowOrigin/],
    [{ onCancel: 'kill' }, /"onCancel".*detach/],
    [{ waitSeconds: '-1' }, /waitSeconds/],
    [{ waitSeconds: 'soon' }, /waitSeconds/],
    [{ agentUrl: 'file:///etc/passwd' }, /agentUrl/],
    [{ toolPrefix: 'a b' }, /toolPrefix/],
  ])('the setting %j is refused, and the error names it', async (flags, says) => {
    await expect(readBridgeSettings({ stateDir, ...flags }, {})).rejects.toThrow(says);
  });

  test('the file can list agents, and the first one is the default', async () => {
    const agents = {
      alpha: { url: 'http://127.0.0.1:1' },
      beta: { url: 'http://127.0.0.1:2', tokenEnv: 'BETA' },
    };
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ bridge: { agents } }));
    const registry = createAgentRegistry(await readBridgeSettings({ stateDir }, {}), {}, '/server.js');
    expect(registry.pick(undefined).name).toBe('alpha');
    expect(registry.all.map((each) => each.name)).toEqual(['alpha', 'beta']);
    expect(() => registry.pick('gamma')).toThrow(
      'There is no agent "gamma". The agents are: "alpha", "beta".',
    );
    await expect(registry.pick('beta').connect()).rejects.toThrow(/variable BETA, which is not set/);
  });

  test('two agents cannot have the name of the agent at --agent-url: the bridge finds the agent of a session by it', async () => {
    const agents = { agent: { url: 'http://127.0.0.1:1' } };
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ bridge: { agents } }));
    const settings = await readBridgeSettings({ stateDir, agentUrl: 'http://127.0.0.1:2' }, {});
    expect(() => createAgentRegistry(settings, {}, '/server.js')).toThrow(
      /agent "agent" at http:\/\/127.0.0.1:1\. .*http:\/\/127.0.0.1:2\. Give the agent in the file another name/,
    );
  });

  test('without a configured agent, the bridge uses the local server', async () => {
    const settings = await readBridgeSettings({ stateDir, autoStart: false }, {});
    const registry = createAgentRegistry(settings, {}, '/server.js');
    expect(registry.all.map((each) => each.name)).toEqual(['local']);
    await expect(registry.pick(undefined).connect()).rejects.toThrow(/was told not to start one/);
  });

  test('the help names every flag and every variable', () => {
    const shown: string[] = [];
    const command = createBridgeCommandLine(async () => undefined, places).configureOutput({
      writeOut: (text) => shown.push(text),
    });
    command.outputHelp();
    const help = shown.join('');
    for (const it of [...Object.values(BRIDGE_SETTINGS), ...Object.values(UNFLAGGED_BRIDGE_SETTINGS)])
      expect(help).toContain(it.env);
    for (const flag of [
      '--agent-url',
      '--agent-token-env',
      '--wait-seconds',
      '--tool-prefix',
      '--workspace',
      '--auto-start',
      '--no-auto-start',
      '--log-level',
      '--on-cancel',
      '--approvals',
      '--fastest-answer-seconds',
      '--stdio',
      '--no-stdio',
      '--http [port]',
      '--http-allow-origin',
      '--state-dir',
      '--config',
    ]) {
      expect(help).toContain(flag);
    }
  });

  test('the help contains no repetition, and lists the exit codes', () => {
    const shown: string[] = [];
    createBridgeCommandLine(async () => undefined, places)
      .configureOutput({ writeOut: (text) => shown.push(text) })
      .outputHelp();
    expect(shown.join('').match(/in the configuration file/g)).toHaveLength(1);
    expect(shown.join('')).toMatch(
      /Exit codes:\n +0 {2}it was done\n[^]* 2 {2}the command line is not[^]*78 {2}the settings/,
    );
  });

  test.each([
    [['--no-auto-start'], { autoStart: false }],
    [['--auto-start=no'], { autoStart: 'no' }],
    [['--auto-start'], { autoStart: true }],
    [['--http', '--no-stdio'], { http: true, stdio: false }],
    [['--http', '0'], { http: '0' }],
    [['--wait-seconds', '5', '--tool-prefix', 'g_'], { waitSeconds: '5', toolPrefix: 'g_' }],
    [[], {}],
  ])('the arguments %j give their flags', async (args, flags) => {
    let got: unknown;
    await createBridgeCommandLine(async (given) => {
      got = given;
    }, places).parseAsync(args, { from: 'user' });
    expect(got).toEqual(flags);
  });
});
