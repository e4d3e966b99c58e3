/**
 * Tests what `install` and `uninstall` write into the settings of MCP clients. test/e2e/cli/install.test.ts runs the commands
 * in the built program.
 */
import { describe, expect, it } from '@jest/globals';
import { chmod, lstat, readdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { installCommand, uninstallCommand } from '../../../../../bridge/cli/commands/install.ts';
import { type CommandRun, terminalErrorText } from '../../../../../bridge/cli/context/run-command.ts';
import { exitCodeOf } from '../../../../../bridge/cli/terminal/exit-codes.ts';
import { type ClientMachine, clientMachine, machineWithClients } from '../../../../support/client-machine.ts';
import { fakeTerminal } from '../../../../support/fake-terminal.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const PROGRAM = resolve('dist', 'bridge', 'main.js');

const options = {
  all: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
  name: { type: 'string' },
  scope: { type: 'string' },
} as const;

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

const commands = new Map([
  ['install', installCommand],
  ['uninstall', uninstallCommand],
]);

const runAt =
  (home: string, env: Readonly<Record<string, string>>) =>
  async (name = '', ...args: string[]): Promise<Outcome> => {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    let [stdout, stderr] = ['', ''];
    const print = (text: string): void => void (stdout += `${text}\n`);
    const run = z.custom<CommandRun>().parse({
      options: { ...values, dryRun: values['dry-run'] },
      places: { bridgeScript: PROGRAM },
      terminal: fakeTerminal(
        values.json === true
          ? { json: (value) => void (stdout += `${JSON.stringify(value)}\n`) }
          : { say: print, explain: print, complain: (text) => void (stderr += `${text}\n`) },
      ),
    });
    const around = { env, platform: process.platform, home, cwd: home };
    try {
      const code = await commands.get(name)?.(run, positionals, around);
      if (code === undefined) throw new Error(`there is no command ${name}`);
      return { code, stdout, stderr };
    } catch (error) {
      return { code: exitCodeOf(error), stdout, stderr: terminalErrorText(error) };
    }
  };
const person = (env: Readonly<Record<string, string>> = {}): Promise<ClientMachine> =>
  clientMachine(runAt, env);

const entry = z.looseObject({ command: z.string(), args: z.array(z.string()) });
const standsIn = (text: string, key: string): unknown =>
  z.record(z.string(), z.record(z.string(), z.unknown())).parse(JSON.parse(text))[key]?.['a2a-bridge'];

describe('the command install', () => {
  it('a second client is no argument for the bridge', async () => {
    const { run, home } = await person();
    expect(await run('install', 'claude', 'codex')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Name one client, or use --all'),
    });
    expect(await readdir(home)).toEqual([]);
  });

  it.each([
    ['claude', 'user', '.claude.json', 'mcpServers'],
    ['claude', 'project', '.mcp.json', 'mcpServers'],
    ['gemini', 'user', '.gemini/settings.json', 'mcpServers'],
    ['gemini', 'project', '.gemini/settings.json', 'mcpServers'],
    ['cursor', 'user', '.cursor/mcp.json', 'mcpServers'],
    ['vscode', 'user', '.config/Code/User/mcp.json', 'servers'],
    ['vscode', 'project', '.vscode/mcp.json', 'servers'],
  ])('%s, %s: install writes %s, and changes nothing the second time', async (client, scope, path, key) => {
    const { run, read } = await person();
    const { code, stdout } = await run('install', client, '--scope', scope);
    // Only Claude Code asks, and only for the servers of a project.
    expect(stdout.includes('asks you to approve the server')).toBe(path === '.mcp.json');
    expect(stdout).toContain(`+`);
    expect(code).toBe(0);
    const text = await read(path);
    const { command, args } = entry.parse(standsIn(text, key));
    expect([command, args[0]]).toEqual([process.execPath, PROGRAM]);
    const again = await run('install', client, '--scope', scope);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to change') });
    expect(await read(path)).toBe(text);
  });

  it('install codex adds a TOML table, and keeps all other lines', async () => {
    const { run, has, read } = await person();
    const before = `model = "o3" # mine\n\n[mcp_servers.other]\ncommand = "x"\nstarted = 1979-05-27T07:32:00Z\n\n[projects."/a b"]\ntrust_level = "trusted"\n`;
    await has('.codex/config.toml', before);
    expect((await run('install', 'codex')).code).toBe(0);
    const after = await read('.codex/config.toml');
    expect(after.startsWith(before)).toBe(true);
    expect(after).toContain('\n[mcp_servers.a2a-bridge]\ncommand = ');
    // Without this setting, Codex may start before the tools are ready.
    expect(after).toMatch(/\nrequired = true\nstartup_timeout_sec = 120\ntool_timeout_sec = 900\n/);
    expect((await run('install', 'codex')).stdout).toContain('nothing to change');
    expect((await run('uninstall', 'codex')).code).toBe(0);
    expect((await read('.codex/config.toml')).trimEnd()).toBe(before.trimEnd());
  });

  it('install codex keeps a time-out that the person has set', async () => {
    const { run, has, read } = await person();
    await has(
      '.codex/config.toml',
      `[mcp_servers.a2a-bridge]\ncommand = "node"\nargs = ["/old/dist/bridge/main.js"]\ntool_timeout_sec = 60\n`,
    );
    expect((await run('install', 'codex')).code).toBe(0);
    const after = await read('.codex/config.toml');
    expect(after).toContain('tool_timeout_sec = 60');
    expect(after).toContain('required = true');
    expect(after).toContain(PROGRAM);
  });

  it('install gemini allows a call fifteen minutes, and leaves each confirmation to the person', async () => {
    const { run, has, read } = await person();
    await run('install', 'gemini');
    expect(standsIn(await read('.gemini/settings.json'), 'mcpServers')).toMatchObject({
      timeout: 900_000,
      trust: false,
    });
    const mine = { command: 'npx', args: ['-y', 'mcp-a2a-bridge@0.0.1'], timeout: 5_000, trust: true };
    await has('.gemini/settings.json', JSON.stringify({ mcpServers: { 'a2a-bridge': mine } }));
    const { stdout } = await run('install', 'gemini');
    expect(stdout).toMatch(/! Your settings stay: .*5 s [^]*! Your settings stay: "trust"/);
    const again = await run('install', 'gemini', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      changed: false,
      hazards: [{}, {}].map(() => expect.any(String)),
    });
    expect(standsIn(await read('.gemini/settings.json'), 'mcpServers')).toEqual({
      command: process.execPath,
      args: [PROGRAM],
      timeout: 5_000,
      trust: true,
    });
  });

  it('in VS Code and Cursor, the agent works in the open folder and not in the home directory', async () => {
    const { run, read } = await person();
    await run('install', 'vscode');
    expect(standsIn(await read('.config/Code/User/mcp.json'), 'servers')).toEqual({
      type: 'stdio',
      command: process.execPath,
      args: [PROGRAM, '--workspace-from-roots'],
    });
    await run('install', 'cursor');
    expect(standsIn(await read('.cursor/mcp.json'), 'mcpServers')).toMatchObject({
      args: [PROGRAM, '--workspace', '${workspaceFolder}'],
    });
    await run('install', 'cursor', '--', '--workspace', '/srv/shop');
    expect(standsIn(await read('.cursor/mcp.json'), 'mcpServers')).toMatchObject({
      args: [PROGRAM, '--workspace', '/srv/shop'],
    });
  });

  it('an argument that the bridge does not know is refused, and nothing is written', async () => {
    const { run, home } = await person();
    const { code, stderr } = await run('install', 'claude', '--', '--agnt-url', 'https://agent.example.com');
    expect(stderr).toContain("unknown option '--agnt-url' (Did you mean --agent-url?)");
    expect(code).toBe(2);
    expect(await readdir(home)).not.toContain('.claude.json');
  });

  it('uninstall names the entries of other scopes that stay, and how to remove them', async () => {
    const { run, home } = await person();
    await run('install', 'claude');
    await run('install', 'claude', '--scope', 'project');
    await run('install', 'claude', '--name', 'gemini', '--', '--tool-prefix', 'gemini_');
    const { stdout } = await run('uninstall', 'claude');
    expect(stdout).toContain(
      `"gemini" in ${join(home, '.claude.json')} still starts the bridge. To remove it: mcp-a2a-bridge uninstall claude --scope user --name gemini`,
    );
    expect(stdout).toContain('uninstall claude --scope project --name a2a-bridge');
    await run('uninstall', 'claude', '--name', 'gemini');
    const again = await run('uninstall', 'claude', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      changed: false,
      remaining: [{ scope: 'project', name: 'a2a-bridge', path: join(home, '.mcp.json') }],
    });
    expect((await run('uninstall', 'claude', '--scope', 'project')).stdout).not.toContain('still starts');
  });

  it('install claude with the scope "local" writes to the repository of the directory', async () => {
    const { run, has, read, home } = await person();
    const project = { lastCost: 1, mcpServers: {} };
    await has('.claude.json', JSON.stringify({ numStartups: 3, projects: { [home]: project } }, null, 2));
    expect((await run('install', 'claude', '--scope', 'local')).code).toBe(0);
    expect(JSON.parse(await read('.claude.json'))).toMatchObject({
      numStartups: 3,
      projects: { [home]: { lastCost: 1, mcpServers: { 'a2a-bridge': { type: 'stdio' } } } },
    });
  });

  it('install updates an entry of the bridge, and keeps its other settings', async () => {
    const { run, has, read } = await person();
    const old = { type: 'stdio', command: 'node', args: ['/old/dist/bridge/main.js'], env: { KEY: 'v' } };
    await has('.claude.json', JSON.stringify({ mcpServers: { 'a2a-bridge': old } }));
    expect((await run('install', 'claude')).code).toBe(0);
    expect(standsIn(await read('.claude.json'), 'mcpServers')).toEqual({
      ...old,
      command: process.execPath,
      args: [PROGRAM],
    });
  });

  it('install finds the files in the client’s configured directories', async () => {
    const directory = await temporaryDirectory();
    const { run } = await person({
      CLAUDE_CONFIG_DIR: join(directory, 'claude'),
      CODEX_HOME: join(directory, 'codex'),
      GEMINI_CLI_HOME: join(directory, 'gemini'),
      XDG_CONFIG_HOME: join(directory, 'config'),
    });
    for (const client of ['claude', 'codex', 'gemini', 'vscode']) await run('install', client);
    expect(
      (await readdir(directory, { recursive: true })).filter((name) => /\.(json|toml)$/.test(name)),
    ).toEqual(
      expect.arrayContaining([
        'claude/.claude.json',
        'codex/config.toml',
        'gemini/.gemini/settings.json',
        'config/Code/User/mcp.json',
      ]),
    );
  });

  it('install keeps a symbolic link, and changes the file to which the link points', async () => {
    const { run, has, read, home } = await person();
    const real = await has('dotfiles/claude.json', '{}');
    await symlink(real, join(home, '.claude.json'));
    expect((await run('install', 'claude')).code).toBe(0);
    expect((await lstat(join(home, '.claude.json'))).isSymbolicLink()).toBe(true);
    expect(await read('dotfiles/claude.json')).toContain('a2a-bridge');
  });

  it.each([
    ['claude', '.claude.json', '{ "mcpServers": '],
    ['claude', '.claude.json', '{ "a": 1 // a comment that Claude Code would not read\n}'],
    ['claude', '.claude.json', '[]'],
    ['cursor', '.cursor/mcp.json', '{ "mcpServers": [] }'],
    ['codex', '.codex/config.toml', 'model = \n'],
    ['codex', '.codex/config.toml', 'mcp_servers = 3\n'],
  ])('%s: install does not change an unreadable file (%s: %s)', async (client, path, text) => {
    const { run, has, read, home } = await person();
    await has(path, text);
    const { code, stderr } = await run('install', client);
    expect(stderr).toMatch(/was left as it is: .*Correct it/);
    expect(code).toBe(78);
    expect(await read(path)).toBe(text);
    expect((await readdir(home, { recursive: true })).filter((name) => name.endsWith('.bak'))).toEqual([]);
  });

  it('install does not change a read-only file, or another server’s entry with the same name', async () => {
    const { run, has, read } = await person();
    const text = '{ "mcpServers": { "a2a-bridge": { "command": "another" } } }';
    const file = await has('.claude.json', text);
    expect(await run('install', 'claude')).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('--name'),
    });
    expect(await run('uninstall', 'claude')).toMatchObject({ code: 78 });
    expect((await run('install', 'claude', '--name', 'mine', '--dry-run')).code).toBe(0);
    await chmod(file, 0o444);
    const { code, stderr } = await run('install', 'claude', '--name', 'mine');
    expect(stderr).toContain('read-only');
    expect(code).toBe(78);
    expect(await read('.claude.json')).toBe(text);
  });

  it.each([
    [['install', 'zed'], 'claude, gemini, codex, cursor, vscode'],
    [['install', 'cursor', '--scope', 'local'], 'user, project'],
    [['install', 'cursor', '--scope', 'world'], 'user, project, local'],
    [['install', 'cursor', '--name', 'a b'], 'letters'],
  ])('the value %j is refused, and the error lists the valid values', async (args, said) => {
    const { run } = await person();
    expect(await run(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
  });
});

describe('the option --all', () => {
  it('uninstall removes what install wrote for a client that the machine does not show otherwise', async () => {
    const { run, read } = await machineWithClients(runAt, {});
    await run('install', 'claude');
    expect((await run('uninstall', '--all')).stdout).toMatch(/\nClaude Code: written\.\n/);
    expect(standsIn(await read('.claude.json'), 'mcpServers')).toBeUndefined();
  });

  it('--json prints one object with the outcome of each client; a second run changes nothing', async () => {
    const { run, home } = await machineWithClients(runAt, {
      directories: ['.gemini', '.cursor', '.config/Code'],
    });
    expect(JSON.parse((await run('install', '--all', '--json', '--dry-run')).stdout)).toMatchObject({
      scope: 'user',
      name: 'a2a-bridge',
      clients: [
        { client: 'claude', changed: false, skipped: 'not found on this machine' },
        { client: 'gemini', changed: false, dryRun: true },
        { client: 'codex', changed: false, skipped: 'not found on this machine' },
        { client: 'cursor', changed: false, dryRun: true },
        { client: 'vscode', changed: false, dryRun: true },
      ],
    });
    expect(await readdir(join(home, '.gemini'))).toEqual([]);
    const changes = async (): Promise<unknown> =>
      z
        .object({ clients: z.array(z.object({ changed: z.boolean() })) })
        .parse(JSON.parse((await run('install', '--all', '--json')).stdout))
        .clients.map(({ changed }) => changed);
    expect(await changes()).toEqual([false, true, false, true, true]);
    expect(await changes()).toEqual([false, false, false, false, false]);
  });

  it('a client whose file is invalid does not stop the others, and the exit code tells', async () => {
    const { run, has, read } = await machineWithClients(runAt, { programs: ['claude', 'codex'] });
    await has('.claude.json', '{');
    const { code, stdout } = await run('install', '--all');
    expect(stdout).toMatch(/Claude Code: failed\. .*\.claude\.json was left as it is/);
    expect(code).toBe(78);
    expect(await read('.codex/config.toml')).toContain('a2a-bridge');
  });

  it('a scope that only some clients have skips the others', async () => {
    const { run } = await machineWithClients(runAt, { programs: ['claude', 'codex'] });
    const { stdout } = await run('install', '--all', '--scope', 'local');
    expect(stdout).toMatch(/Claude Code: written\.\n(.*\n)*Codex: skipped\. It has no scope "local"\.\n/);
  });

  it('without any client it fails; with the name of a client too, it is refused', async () => {
    const { run } = await machineWithClients(runAt, {});
    expect((await run('install', '--all')).code).toBe(1);
    const both = await run('install', 'claude', '--all');
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('not both') });
    const neither = await run('install');
    expect(neither).toMatchObject({ code: 2, stderr: expect.stringContaining('--all') });
  });
});
