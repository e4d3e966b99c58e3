/** Tests the built server program as a process: its output, its address and its exit. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { z } from 'zod';
import { issueToken, tokenCommand } from '../../support/issue-token.ts';
import { readServerRecord } from '../../../shared/state/server-record.ts';
import { startServer } from '../../support/server-process.ts';
import type { ServerProcess } from '../../support/server-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = join(process.cwd(), 'dist', 'a2a-server', 'main.js');

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the program until it exits by itself. */
async function run(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const home = await temporaryDirectory();
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env['PATH'], HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 50_000,
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

test('if the server must confine its shell and cannot, it does not start, and the error contains the next step', async () => {
  const ended = await run(['--port', '0', '--confine-shell', 'require'], {
    PATH: await temporaryDirectory(),
  });
  expect(ended).toMatchObject({ code: 78, stdout: '' });
  expect(ended.stderr).toMatch(/Shell commands must be confined .* set it to "auto" or "off"/);
});

test('a command whose output nobody reads ends without an error', async () => {
  const child = spawn(process.execPath, [PROGRAM, 'models', '--state-dir', await temporaryDirectory()], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect([child.exitCode, stderr]).toEqual([0, '']);
});

const listeners: Server[] = [];
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});

/** Starts another program on its own port. Returns the port. */
async function otherProgram(greeting = ''): Promise<number> {
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(greeting);
  });
  listeners.push(listener);
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

function portOf({ url }: ServerProcess): string {
  return new URL(url).port;
}

function ask({ url, token }: ServerProcess, path: string, body?: object): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'a2a-version': '1.0', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

const message = (words: string, metadata = {}) => ({
  message: { messageId: `m-${words}`, role: 'ROLE_USER', parts: [{ text: words }], metadata },
});

describe('the program a2a-server', () => {
  test('a2a-server writes its address to a file for the bridge, and removes the file at an orderly exit', async () => {
    const server = await startServer();
    const record = await readServerRecord(server.stateDir);
    expect(record).toMatchObject({ url: server.url, version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    expect((await stat(join(server.stateDir, 'server.json'))).mode & 0o777).toBe(0o600);
    expect(await (await ask(server, '/health')).json()).toMatchObject({ status: 'ok', ...record });
    expect(await server.stop()).toBe(0);
    expect(await readServerRecord(server.stateDir)).toBeUndefined();
    expect(server.log()).not.toContain(server.token);
  });

  test('X1 GET /health shows the process and the work of all principals only to an operator of the whole server', async () => {
    const server = await startServer();
    const reader = await tokenCommand(server, 'create', '--name', 'ben', '--role', 'read');
    const operator = await tokenCommand(server, 'create', '--name', 'cat', '--role', 'operate');
    const ofTenant = await issueToken(server, 'dan', '--role', 'operate');
    const named = async (token: string): Promise<string[]> =>
      Object.keys(
        z.record(z.string(), z.unknown()).parse(await (await ask({ ...server, token }, '/health')).json()),
      );
    const all = ['status', 'version', 'agent', 'journal', 'mcpServers', 'shell', 'clock'];
    const operation = ['url', 'pid', 'startedAt', 'stateDirectory', 'executing', 'waiting', 'toolExecutions'];
    expect((await named(reader)).toSorted()).toEqual(all.toSorted());
    expect((await named(ofTenant)).toSorted()).toEqual(all.toSorted());
    for (const token of [operator, server.token])
      expect((await named(token)).toSorted()).toEqual([...all, ...operation].toSorted());
  });

  test('X1 a2a-server shows no secret in /proc, and can still use its secrets', async () => {
    const secret = 'hush-0123456789';
    const server = await startServer({
      env: { OPENAI_API_KEY: secret, A2A_SERVER_TOKENS: `ann=${secret}-of-ann` },
    });
    const { pid = 0 } = (await readServerRecord(server.stateDir)) ?? {};
    if (process.platform === 'linux') {
      const shown = await readFile(`/proc/${pid}/environ`, 'latin1');
      expect(shown).not.toContain(secret);
      expect(shown).toContain('PATH=');
    }
    expect((await ask({ ...server, token: `${secret}-of-ann` }, '/tasks')).status).toBe(200);
    expect((await ask({ ...server, token: `${secret}-of-ben` }, '/tasks')).status).toBe(401);
  });

  test('R103 a2a-server reports a jump of the clock, and the operator can confirm the clock', async () => {
    const stateDir = await temporaryDirectory();
    const stale = { now: Date.now() - 400 * 86_400_000, uptimeMs: 0, boot: 'an earlier one' };
    await writeFile(join(stateDir, 'clock.json'), JSON.stringify(stale));
    const server = await startServer({ home: { stateDir, workspace: await temporaryDirectory() } });
    const health = z.object({ clock: z.string() });
    const state = health.parse(await (await ask(server, '/health')).json()).clock;
    expect(state).toContain('jumped 400 days ahead, so no task expires');
    expect(state).toContain('a2a-server confirm-clock');
    expect(server.log()).toContain('jumped 400 days ahead');
    expect(JSON.parse(await readFile(join(stateDir, 'clock.json'), 'utf8'))).toEqual(stale);
    expect(await run(['confirm-clock', '--state-dir', stateDir])).toMatchObject({ code: 0 });
    const again = z.object({ now: z.number() });
    expect(again.parse(JSON.parse(await readFile(join(stateDir, 'clock.json'), 'utf8'))).now).toBeGreaterThan(
      stale.now + 399 * 86_400_000,
    );
  });

  test('X1 the operator creates, lists and revokes a token while a2a-server runs', async () => {
    const server = await startServer();
    const cli = (...args: string[]) => run(['token', ...args, '--state-dir', server.stateDir]);
    const made = await cli('create', '--name', 'ann', '--expires', '1h');
    const token = made.stdout.trim();
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('shown only now') });
    expect((await ask({ ...server, token }, '/tasks')).status).toBe(200);
    const listed = z.object({ tokens: z.array(z.object({ id: z.string() })) });
    const list = await cli('list', '--json');
    expect(JSON.parse(list.stdout)).toMatchObject({ tokens: [{ name: 'ann', state: 'active' }] });
    const [{ id } = { id: '' }] = listed.parse(JSON.parse(list.stdout)).tokens;
    expect(await cli('revoke', id)).toMatchObject({ code: 0 });
    expect((await ask({ ...server, token }, '/tasks')).status).toBe(401);
    expect((await cli('list')).stdout).toMatch(new RegExp(`^${id}  ann  delegate,approve  revoked  `));
    expect(await cli('revoke', '0123456789ab')).toMatchObject({ code: 2 });
    expect(await cli('create', '--name', 'ann smith')).toMatchObject({ code: 2, stdout: '' });
    expect(await cli('create', '--name', 'ann', '--role', 'admin')).toMatchObject({ code: 2, stdout: '' });
    expect(await cli('create', '--name', 'ann', '--expires', '0d')).toMatchObject({ code: 2, stdout: '' });
    expect(server.log()).not.toContain(token.slice(-43));
  });

  test('a token has the roles of each `--role`, not only those of the last', async () => {
    const place = ['--state-dir', await temporaryDirectory()];
    const roles = ['--role', 'read', '--role', 'approve,operate', '--role', 'read'];
    expect(await run(['token', 'create', '--name', 'ann', ...roles, ...place])).toMatchObject({ code: 0 });
    const list = await run(['token', 'list', '--json', ...place]);
    expect(JSON.parse(list.stdout)).toMatchObject({ tokens: [{ roles: ['read', 'approve', 'operate'] }] });
  });

  test('a2a-server works on a task over both bindings, from its journal', async () => {
    const server = await startServer();
    const sent = await ask(server, '/message:send', message('Create test.md with hello'));
    expect(await sent.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
    expect(await (await ask(server, '/tasks?pageSize=10')).json()).toMatchObject({ totalSize: 1 });
  });

  test('a2a-server continues after its terminal has closed', async () => {
    const server = await startServer();
    const record = await readServerRecord(server.stateDir);
    process.kill(record?.pid ?? 0, 'SIGHUP');
    expect((await ask(server, '/health')).status).toBe(200);
  });
});

describe('an address in use', () => {
  test('if the user’s own server uses the address, the error names that server’s state directory', async () => {
    const server = await startServer();
    const second = await run(['--port', portOf(server), '--state-dir', server.stateDir]);
    expect(second).toMatchObject({ code: 78, stdout: '' });
    expect(second.stderr).toContain('this a2a-server is already running there');
    expect(second.stderr).toContain(`end it with: kill ${(await readServerRecord(server.stateDir))?.pid}.`);
    expect(second.stderr).toContain('A2A_SERVER_MODEL');
    expect(second.stderr).toContain(`section "server" of ${join(server.stateDir, 'config.json')}`);
    expect(second.stderr).toContain(server.stateDir);
    expect((await ask(server, '/health')).status).toBe(200);
    expect(await readServerRecord(server.stateDir)).toMatchObject({ url: server.url });
  });

  test('if an a2a-server with another token uses the address, the error says so', async () => {
    const server = await startServer();
    const second = await run(['--port', portOf(server), '--state-dir', await temporaryDirectory()]);
    expect(second.code).toBe(78);
    expect(second.stderr).toContain('another token');
    expect(second.stderr.trimEnd()).toMatch(/Choose another port with --port\.$/);
  });

  test.each(['', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}', 'SSH-2.0-OpenSSH\r\n'])(
    'if another program uses the address and answers %p, the error names the port and the next step',
    async (greeting) => {
      const port = await otherProgram(greeting);
      const second = await run(['--port', String(port), '--state-dir', await temporaryDirectory()]);
      expect(second.code).toBe(78);
      expect(second.stderr).toContain(`Port ${port} of 127.0.0.1 is taken: another program listens there`);
    },
  );

  test('if the state directory is in use and its server does not respond, the error names no server', async () => {
    const stateDir = await temporaryDirectory();
    const journal = await openSqliteJournal({ path: join(stateDir, 'journal.db'), clock: () => 0 });
    try {
      const second = await run(['--port', '0', '--state-dir', stateDir]);
      expect(second.code).toBe(78);
      expect(second.stderr).toContain(`Another a2a-server already keeps its state in ${stateDir}.`);
      expect(second.stderr).toContain('end it first');
    } finally {
      await journal.close();
    }
  });

  test('if the state directory is in use, the new server does not start, and the old server keeps running', async () => {
    const server = await startServer();
    const second = await run(['--port', '0', '--state-dir', server.stateDir]);
    expect(second.code).toBe(78);
    const pid = (await readServerRecord(server.stateDir))?.pid;
    expect(second.stderr).toContain(
      `Another a2a-server (pid ${pid}, at ${server.url}) already keeps its state in ${server.stateDir}. Use that server, or end it with: kill ${pid}.`,
    );
    expect(second.stderr).toContain('choose another --state-dir');
    expect(second.stderr).not.toContain('journal');
    expect((await ask(server, '/health')).status).toBe(200);
    expect(await readServerRecord(server.stateDir)).toMatchObject({ url: server.url });
  });
});

describe('invalid settings', () => {
  test.each<[string[], string]>([
    [['--port', '70000'], 'Setting "port" from flag --port'],
    [['--log-level', 'loud'], 'Allowed: silent, fatal, error'],
    [['--model', 'skynet'], 'Setting "model" from flag --model'],
    [['--host', '0.0.0.0'], 'add --allow-remote'],
    [['--host', '192.168.1.1'], 'add --allow-remote'],
    [['--config', '/no/such/file.json'], '/no/such/file.json'],
    [
      ['--workspace', '/no/such/directory'],
      'Setting "workspace" from flag --workspace is not valid: The workspace "/no/such/directory" does not exist',
    ],
    [['--workspace', '/'], 'is the root of a file system'],
    [['--workspace', PROGRAM], 'is not a directory'],
    [
      ['--workspace', process.cwd(), '--allow-workspace', join(process.cwd(), 'docs')],
      'is not an allowed workspace',
    ],
    [['--model', 'anthropic:claude'], 'set ANTHROPIC_API_KEY in the environment'],
    [['--smart-model', 'google:gemini'], 'set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY'],
    [['--other-model', 'openai-compatible:some'], 'set MCP_A2A_OPENAI_COMPATIBLE_URL'],
    [['--idle-timeout', '0'], 'or never'],
  ])('X1 %j is refused before any file is opened', async (args, words) => {
    const stateDir = join(await temporaryDirectory(), 'state');
    const ended = await run([...args, '--state-dir', stateDir]);
    expect(ended.code).toBe(78);
    expect(ended.stderr).toContain(words);
    await expect(stat(stateDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('a missing workspace is refused, and the error names the variable or the file', async () => {
    const byVariable = await run([], { A2A_SERVER_WORKSPACE: '/no/such/directory' });
    expect(byVariable.code).toBe(78);
    expect(byVariable.stderr).toContain('from environment variable A2A_SERVER_WORKSPACE');
    const path = join(await temporaryDirectory(), 'config.json');
    await writeFile(path, JSON.stringify({ server: { workspace: '/no/such/directory' } }));
    const byFile = await run(['--config', path]);
    expect(byFile.code).toBe(78);
    expect(byFile.stderr).toContain(`from ${path}`);
  });

  test('X2 a workspace in the state directory is refused', async () => {
    const stateDir = await temporaryDirectory();
    await mkdir(join(stateDir, 'space'));
    const ended = await run(['--state-dir', stateDir, '--workspace', join(stateDir, 'space')]);
    expect(ended.code).toBe(78);
    expect(ended.stderr).toContain("server's state directory");
  });

  test('a state directory that cannot be created is refused, and the program exits', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    for (const path of [join(file, 'a', 'b'), ...(process.platform === 'linux' ? ['/proc/a/b'] : [])]) {
      const ended = await run(['--state-dir', path]);
      expect(ended.code).toBe(78);
      expect(ended.stderr).toContain(`The state directory ${path} cannot be used`);
    }
  });

  test('check refuses a state directory or a token that a start refuses, and creates nothing', async () => {
    const stateDir = join(await temporaryDirectory(), 'state');
    const check = (place = stateDir) => run(['check', '--offline', '--state-dir', place]);
    expect((await check()).code).toBe(0);
    const below = await check(join(PROGRAM, 'state'));
    expect(below).toMatchObject({
      code: 78,
      stdout: expect.stringContaining('a part of the path is a file'),
    });
    await expect(stat(stateDir)).rejects.toMatchObject({ code: 'ENOENT' });
    await mkdir(stateDir);
    await chmod(stateDir, 0o777);
    for (const words of ['other users may write to it', 'it holds no valid token', 'other users can read']) {
      const refused = await check();
      expect(refused).toMatchObject({ code: 78, stdout: expect.stringContaining(`state directory: `) });
      expect(refused.stdout).toContain(words);
      expect((await run(['--state-dir', stateDir])).stderr).toContain(words);
      await chmod(stateDir, 0o700);
      if (words.startsWith('it holds')) await chmod(join(stateDir, 'token'), 0o644);
      else await writeFile(join(stateDir, 'token'), 'short', { mode: 0o600 });
    }
  });

  test('an unknown flag is refused', async () => {
    const ended = await run(['--prot', '1']);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('--prot');
    expect((await run(['--port'])).code).toBe(2);
    const agent = await run(['--agent', 'acp', 'gemini', '--acp']);
    expect(agent).toMatchObject({ code: 2, stderr: expect.stringContaining('--agent acp -- <command>') });
  });

  test('an invalid variable is refused by its name; the error never contains a token’s value', async () => {
    const ended = await run([], { A2A_SERVER_TOKENS: 'ann=tooshort' });
    expect(ended.code).toBe(78);
    expect(ended.stderr).toContain('A2A_SERVER_TOKENS');
    expect(ended.stderr).not.toContain('tooshort');
  });

  test('--help names every flag, variable and default', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    for (const words of [
      '--port',
      'A2A_SERVER_PORT',
      '41242',
      'MCP_A2A_BRIDGE_HOME',
      'MCP_A2A_BRIDGE_CONFIG',
      'A2A_SERVER_TOKENS',
      '--allow-workspace',
      '--public-host',
      'A2A_SERVER_FAST_MODEL',
      'A2A_SERVER_SMART_MODEL',
      'A2A_SERVER_BASE_URLS: other base URLs of model providers (in the configuration file, {',
      'Exit codes: 2 ',
    ])
      expect(stdout).toContain(words);
    expect(stdout).not.toContain('preset');
    expect(await run(['--version'])).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('settings of a2a-server that are valid', () => {
  test('X1 the configuration file adds principals, each with its own tasks', async () => {
    const stateDir = await temporaryDirectory();
    const token = 'ann-s-token-0123456789';
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ server: { tokens: [`ann=${token}`] } }));
    const server = await startServer({ home: { stateDir, workspace: await temporaryDirectory() } });
    await ask(server, '/message:send', message('say hello'));
    expect(await (await ask(server, '/tasks')).json()).toMatchObject({ totalSize: 1 });
    expect(await (await ask({ ...server, token }, '/tasks')).json()).toMatchObject({ totalSize: 0 });
  });

  test('a workspace must be inside a directory that the operator allows, after links are resolved', async () => {
    const allowed = await temporaryDirectory();
    const elsewhere = await temporaryDirectory();
    await mkdir(join(allowed, 'inside'));
    await symlink(elsewhere, join(allowed, 'way-out'));
    const home = { stateDir: await temporaryDirectory(), workspace: allowed };
    const server = await startServer({ home, args: ['--allow-workspace', allowed] });
    const start = async (workspace: string) => {
      const metadata = { 'urn:mcp-a2a-bridge:tool-approval:v1': { workspace } };
      const body = { ...message(`say hello from ${workspace}`, metadata) };
      return (await ask(server, '/message:send', body)).status;
    };
    expect(await start(join(allowed, 'inside'))).toBe(200);
    expect(await start(allowed)).toBe(200);
    expect(await start(elsewhere)).toBe(400);
    expect(await start(join(allowed, 'way-out'))).toBe(400);
    expect(await start(`${allowed}-2`)).toBe(400);
    expect(await start('/')).toBe(400);
    expect(await start('relative')).toBe(400);
  });

  test('X1 with --allow-remote the server accepts only the configured host names', async () => {
    const server = await startServer({
      args: ['--host', '0.0.0.0', '--allow-remote', '--public-host', 'agent.example'],
    });
    expect(server.url).toContain('127.0.0.1');
    expect((await ask(server, '/health')).status).toBe(200);
    expect(await readFile(join(server.stateDir, 'server.json'), 'utf8')).toContain('127.0.0.1');
  });
});
