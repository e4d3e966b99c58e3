/** Tests errors of the command line, as a script and as a person get them. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { newServerHome, launchServer, PROGRAM as SERVER_PROGRAM } from '../../support/server-program.ts';
import { cli, cliAtTerminal, type Outcome, PROGRAM } from './support/cli.ts';

describe('a command line with an error', () => {
  let home: string;
  const run = (...args: string[]): Promise<Outcome> =>
    cli([...args, '--state-dir', join(home, 'state'), '--no-auto-start'], { home });

  beforeEach(async () => {
    home = await temporaryDirectory();
  });

  it.each<[string[], number, string]>([
    [['cancel', '--json'], 2, "missing required argument 'session'"],
    [['tasks', '--json', '--nope'], 2, "unknown option '--nope'"],
    [['tasks', '--json', '--state', 'asleep'], 2, 'There is no state "asleep"'],
    [['install', 'nobody', '--json'], 2, 'There is no client "nobody"'],
    [['watch', 'nowhere', '--json'], 69, 'The bridge cannot look for session "nowhere"'],
    [['abort', 'nothing-1', '--json'], 69, 'No local A2A server runs'],
    [['page', '--json'], 69, 'No local A2A server runs'],
  ])(
    '%j prints one JSON object on stdout and nothing on stderr, and sets an exit code',
    async (args, code, says) => {
      const { stdout, stderr, ...end } = await run(...args);
      expect(end.code).toBe(code);
      expect(JSON.parse(stdout)).toMatchObject({ error: { message: expect.stringContaining(says) } });
      expect(stderr).toBe('');
    },
  );

  it.each([
    [['aprove'], "unknown command 'aprove'", 'approve'],
    [['decide'], "unknown command 'decide'", 'approve or deny'],
    [['status'], "unknown command 'status'", 'tasks or server status'],
    [['server', 'stat'], "unknown command 'stat'", 'start'],
    [['tasks', '--limt', '3'], "unknown option '--limt'", '--limit'],
  ])('%j gives an error with a suggestion', async (args, says, suggestion) => {
    const { code, stderr } = await cli(args, { home });
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect(stderr).toContain(`(Did you mean ${suggestion}?)`);
  });

  it.each([
    [['tasks', 'session-1'], "too many arguments for 'tasks'"],
    [['cancel', 'session-1', 'session-2'], "too many arguments for 'cancel'"],
    // The reason of a denial belongs to --reason.
    [['deny', '3951ee18', 'the', 'wrong', 'file'], "too many arguments for 'deny'"],
    [['agents', 'lst'], "unknown command 'lst'"],
    [['model', 'sett'], "unknown command 'sett'"],
  ])('%j is refused, because no command takes these words', async (args, says) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  it.each([
    ['agents', 'add', 'http://127.0.0.1:1', '--token', 'hunter2-hunter2'],
    ['agents', 'add', '--token=hunter2-hunter2', 'http://127.0.0.1:1', '--json'],
    ['probe', 'http://127.0.0.1:1', '--token=hunter2-hunter2'],
  ])(
    '%s %s: the error about --token names --token-variable, and does not repeat the token',
    async (...args) => {
      const { code, stdout, stderr } = await cli(args, { home });
      expect(code).toBe(2);
      expect(`${stdout}${stderr}`).toMatch(/history of your shell.*--token-variable <name>/);
      expect(`${stdout}${stderr}`).not.toContain('hunter2');
    },
  );

  it.each([[['help']], [['help', 'run']], [['server', 'help']]])('%j prints the help', async (args) => {
    const { code, stdout, stderr } = await cli(args, { home });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: mcp-a2a-bridge /);
  });

  it('at a terminal of 60 columns, no word of the help, of an error or of a result is cut', async () => {
    const at = { home, keys: '', columns: 60 };
    const commands = ['--help', 'run --help', 'tasks --state asleep', 'show nothing', 'server status'];
    for (const args of commands.map((command) => command.split(' '))) {
      const { stdout } = await cliAtTerminal([...args, '--no-auto-start'], at);
      // The note about the path has a command to copy, which only the terminal may wrap.
      const lines = stdout.split(/\r?\n/).filter((line) => !line.includes('Here, mcp-a2a-bridge is:'));
      const wide = lines.filter((line) => line.length > 60 && / /.test(line.replace(/^↳ /, '').trim()));
      expect(wide).toEqual([]);
    }
  });

  it.each<[string, Readonly<Record<string, unknown>>, string[], Readonly<Record<string, string>>]>([
    ['agentUrl', {}, ['--agent-url', 'notaurl'], {}],
    ['agentUrl', {}, [], { MCP_A2A_BRIDGE_AGENT_URL: 'notaurl' }],
    ['agentUrl', { agentUrl: 'notaurl' }, [], {}],
    ['agents', { agents: { x: { url: 'notaurl' } } }, [], {}],
    ['agents', { agents: { x: { url: 'http://127.0.0.1:1', cardUrl: 'notaurl' } } }, [], {}],
    ['approvalWebhook', { approvalWebhook: { url: 'notaurl', secretEnv: 'SECRET' } }, [], {}],
  ])(
    'an invalid URL exits with 78, and the error names its setting %s: %j %j %j',
    async (setting, bridge, args, env) => {
      const config = join(home, 'config.json');
      await writeFile(config, JSON.stringify({ bridge }));
      const { code, stderr } = await cli(['tasks', ...args, '--config', config], { home, env });
      expect(stderr).toMatch(new RegExp(`^mcp-a2a-bridge: Setting "${setting}" from .*URL`));
      expect(code).toBe(78);
    },
  );

  it.each<[string, Readonly<Record<string, unknown>>, string[], Readonly<Record<string, string>>]>([
    ['publicUrl', {}, ['--public-url', 'notaurl'], {}],
    ['baseUrls', { baseUrls: { openai: 'notaurl' } }, [], {}],
    ['mcpServers', { mcpServers: { m: { url: 'notaurl' } } }, [], {}],
    ['MCP_A2A_OPENAI_COMPATIBLE_URL', {}, ['--model', 'openai-compatible:m'], { URL: 'notaurl' }],
  ])(
    'a2a-server: an invalid URL names %s, and the server does not start',
    async (name, server, args, env) => {
      const config = join(home, 'config.json');
      await writeFile(config, JSON.stringify({ server }));
      const launched = launchServer({
        home: await newServerHome(),
        args: ['--config', config, ...args],
        env: { ...(env['URL'] !== undefined && { [name]: env['URL'] }) },
      });
      await expect(launched.ready).rejects.toThrow(name);
      expect(await launched.stop()).toBe(78);
    },
  );

  it('D5 at a terminal, JSON has hidden characters only as escapes', async () => {
    const command = ['tasks', '--json', '--config', '/none\u{9b}2J'];
    const { stdout } = await cliAtTerminal(command, { home, keys: '', columns: 200 });
    expect(stdout).toContain('/none\\u009b2J');
    expect(stdout).not.toContain('\u{9b}');
  });

  it('without a command at a terminal, the program says what it waits for', async () => {
    const ended = await cliAtTerminal([], { home, prompt: 'Waits for an MCP client', keys: '\u{4}' });
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('mcp-a2a-bridge --help') });
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('a2a-server check whose output is lost on a full disk fails', async () => {
    const args = ['-c', 'exec "$0" "$@" >/dev/full', process.execPath, SERVER_PROGRAM, 'check', '--offline'];
    const child = spawn('sh', [...args, '--state-dir', join(home, 'state')], { stdio: 'ignore' });
    expect(await once(child, 'exit')).toEqual([1, null]);
  });

  onLinux('in a directory that was deleted, the error says so once', async () => {
    const command = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
    const child = spawn('sh', ['-c', command, process.execPath, PROGRAM, 'tasks'], {
      cwd: home,
      env: { HOME: home },
      stdio: 'pipe',
    });
    const stderr = child.stderr.toArray();
    expect(await once(child, 'exit')).toEqual([78, null]);
    expect(String(await stderr)).toMatch(/^mcp-a2a-bridge: The current directory was deleted\..*\n$/);
  });

  it('an error for a person is on stderr, without colours if stderr is not a terminal', async () => {
    const { code, stdout, stderr } = await run('cancel');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: missing required argument 'session'\n\(mcp-a2a-bridge cancel --help/);
    const aborted = await run('abort', '../x');
    expect(aborted).toMatchObject({ code: 4, stdout: '' });
    expect(aborted.stderr).toMatch(
      /is not the id of a tool execution\. "mcp-a2a-bridge watch" names those that run/,
    );
    expect(`${stderr}${aborted.stderr}`).not.toContain('\u001b');
  });
});
