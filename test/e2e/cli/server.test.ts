/** Tests the commands for the local server and its log. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ChildProcess } from 'node:child_process';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { openLogFile } from '../../../shared/runtime/log-file.ts';
import { isPidInUse } from '../../../bridge/state/process-id.ts';
import { readServerRecord, writeServerRecord } from '../../../shared/state/server-record.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { textOf, RawClient } from '../../integration/bridge/support/raw-client.ts';
import { cli, cliRunning, type Outcome, PROGRAM } from './support/cli.ts';

const running = z.object({ running: z.literal(true), url: z.string(), pid: z.number() });

const logLine = (msg: string): string => `${JSON.stringify({ level: 30, time: 0, msg })}\n`;

describe('the command server', () => {
  let home: string;
  let stateDir: string;
  let following: ChildProcess | undefined;
  const run = (...args: string[]): Promise<Outcome> => cli([...args, '--state-dir', stateDir], { home });

  beforeEach(async () => {
    home = await temporaryDirectory();
    stateDir = join(home, 'state');
  });
  afterEach(async () => {
    following?.kill();
    following = undefined;
    await run('server', 'stop');
  });

  it('server starts a server, finds it, and stops it; a second start or stop has no effect', async () => {
    expect((await run('server', 'status')).code).toBe(69);
    const started = await run('server', 'start');
    expect(started).toMatchObject({ code: 0, stdout: expect.stringContaining('Started.') });
    expect((await run('server', 'start')).stdout).toContain('It was running already.');
    const { pid } = running.parse(JSON.parse((await run('server', 'status', '--json')).stdout));
    expect(isPidInUse(pid)).toBe(true);
    expect((await run('server', 'stop')).stdout).toContain('Stopped.');
    expect(isPidInUse(pid)).toBe(false);
    expect(await readServerRecord(stateDir)).toBeUndefined();
    expect(await run('server', 'stop')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('not running'),
    });
  });

  it('after an upgrade, the first tool call and the command status say that the old server still runs', async () => {
    await run('server', 'start');
    const record = await readServerRecord(stateDir);
    if (record === undefined) throw new Error('no server has started');
    await writeServerRecord(stateDir, { ...record, version: '0.0.9' });
    const note = 'The local A2A server still runs version 0.0.9';
    expect((await run('server', 'status')).stdout).toContain(note);
    const client = await RawClient.start(
      { script: PROGRAM, directory: home, remove: async () => undefined },
      { stateDir },
    );
    try {
      const first = await client.call('list_all_active_sessions', {});
      expect(textOf(first)).toContain(note);
      expect(first.structuredContent?.['notices']).toEqual([expect.stringContaining(note)]);
      expect(textOf(await client.call('get_agent_capabilities_and_version', {}))).not.toContain(note);
    } finally {
      await client.kill();
    }
  });

  it('the command page starts the server; without a terminal it prints the plain address, which gives no access', async () => {
    const { code, stdout, stderr } = await run('page', '--json');
    expect(code).toBe(0);
    const { url } = z.strictObject({ url: z.string() }).parse(JSON.parse(stdout));
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/page$/);
    expect(stderr).toContain('run "mcp-a2a-bridge page" at a terminal');
    expect(await (await fetch(url)).text()).toContain('<title>Approvals</title>');
  });

  it('server reports why a server cannot start, with the end of the server’s log', async () => {
    await cli(['tasks', '--state-dir', stateDir, '--no-auto-start'], { home });
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ server: { port: 'none' } }));
    const { code, stderr } = await cli(['server', 'start', '--state-dir', stateDir], {
      home,
      env: { A2A_SERVER_PORT: '' },
    });
    expect(stderr).toMatch(/could not be started[^]*"port"/);
    expect(code).toBe(78);
  });

  it('server logs prints the last lines; -f also prints new lines, and continues in the next log file', async () => {
    expect(await run('logs')).toMatchObject({ code: 78, stderr: expect.stringContaining('server start') });
    await run('server', 'start');
    const { stdout } = await run('logs', '-n', '1');
    expect(stdout).toMatch(/info {2}ready url=http/);
    expect((await run('logs', '-n', 'few')).code).toBe(2);
    const log = join(stateDir, 'server.log');
    const follow = cliRunning(['logs', '-f', '-n', '1', '--state-dir', stateDir], { home });
    following = follow.child;
    await follow.line('ready url=http');
    await appendFile(log, `${JSON.stringify({ level: 40, time: 0, msg: 'mind', disk: 'full' })}\n`);
    expect(await follow.line('mind')).toBe('1970-01-01 00:00:00 warn  mind disk=full');
    await appendFile(log, 'half a ');
    await appendFile(log, 'line\n');
    expect(await follow.line('half')).toBe('half a line');
    await rename(log, `${log}.1`);
    await writeFile(log, 'of the next server\n');
    expect(await follow.line('next')).toBe('of the next server');
  });

  it('server logs -f neither misses nor repeats a line if the log file is replaced; -n also reads the older log file', async () => {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    const log = join(stateDir, 'server.log');
    const destination = openLogFile(log, 5 * logLine('line 10').length);
    const write = (from: number, to: number): void => {
      for (let i = from; i <= to; i += 1) destination.write(logLine(`line ${String(i)}`));
    };
    write(1, 3);
    const follow = cliRunning(['logs', '-f', '--state-dir', stateDir], { home });
    following = follow.child;
    await follow.line('line 3');
    // The log reaches its maximum size before line 6. So the program starts a new log file there.
    write(4, 8);
    await follow.line('line 8');
    write(9, 13);
    await follow.line('line 13');
    const { stdout } = await run('logs', '-n', '7');
    expect(stdout.match(/line \d+/g)).toEqual([7, 8, 9, 10, 11, 12, 13].map((i) => `line ${String(i)}`));
    follow.child.kill();
    const shown = (await follow.ended).stdout.match(/line \d+/g);
    expect(shown).toEqual(Array.from({ length: 13 }, (_, i) => `line ${String(i + 1)}`));
  });

  it('server logs --json prints JSON lines, also for a crash line', async () => {
    await run('server', 'start');
    await appendFile(join(stateDir, 'server.log'), 'Error: a "crash"\n    at line 1\n');
    const { stdout } = await run('logs', '--json');
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => z.looseObject({ msg: z.string() }).parse(JSON.parse(line)));
    expect(lines.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining(['ready', 'Error: a "crash"', '    at line 1']),
    );
  });
});
