/** What doctor finds, and what it says to do. */
import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { readServerRecord, writeServerRecord } from '../../../shared/state/server-record.ts';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli } from './support/cli.ts';
import { type CliStage, cliStage } from './support/cli-stage.ts';

const report = z.object({
  ok: z.boolean(),
  findings: z.array(
    z.object({ subject: z.string(), level: z.string(), message: z.string(), next: z.string().optional() }),
  ),
});
type Report = z.infer<typeof report>;

const examined = async (on: CliStage): Promise<Report> => report.parse(await on.json('doctor'));
const of = ({ findings }: Report, subject: string) => findings.find((each) => each.subject === subject);

/** Something that listens on a port of its own, until the work with it is done. */
async function listening<T>(listener: RequestListener, work: (port: number) => Promise<T>): Promise<T> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  try {
    return await work(typeof address === 'object' && address !== null ? address.port : 0);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('doctor', () => {
  it('finds nothing to put right where server, token and client are as they should be', async () => {
    const on = await cliStage();
    await on.run('install', 'claude');
    const { code, stdout } = await on.run('doctor');
    expect(stdout).toMatch(/✓ local server: http[^]*✓ agent local: [^]*✓ Claude Code, user: /);
    expect(stdout).toContain('0 to put right');
    expect(code).toBe(0);
    expect((await examined(on)).ok).toBe(true);
  });

  it('starts no server to look at one', async () => {
    const home = await temporaryDirectory();
    const stateDir = join(home, 'state');
    const { code, stdout } = await cli(['doctor', '--state-dir', stateDir], { home });
    expect(stdout).toContain('started when it is needed');
    expect(stdout).toContain('→ Run one of: mcp-a2a-bridge install claude');
    expect(code).toBe(0);
    expect(await readServerRecord(stateDir)).toBeUndefined();
  });

  it('X1 a token or a state directory that others can read has to be put right', async () => {
    const on = await cliStage();
    const { stateDir } = on.server;
    await chmod(join(stateDir, 'token'), 0o644);
    await chmod(stateDir, 0o755);
    const found = await examined(on);
    expect(of(found, 'token')).toMatchObject({ level: 'fail', next: expect.stringContaining('chmod 600') });
    expect(of(found, 'state directory')).toMatchObject({
      level: 'fail',
      next: expect.stringContaining('chmod 700'),
    });
    expect((await on.run('doctor')).code).toBe(1);
  });

  it('R63 an agent that is away, takes no token, or is no agent at all: each with what to do', async () => {
    const on = await cliStage();
    const config = join(on.server.stateDir, 'config.json');
    await listening(
      (_, response) => response.end('<html>'),
      async (port) => {
        const agents = {
          away: { url: 'http://127.0.0.1:1' },
          page: { url: `http://127.0.0.1:${String(port)}` },
          closed: { url: on.server.url },
          unset: { url: on.server.url, tokenEnv: 'NOT_SET_ANYWHERE' },
        };
        await writeFile(config, JSON.stringify({ bridge: { agents } }));
        const found = await examined(on);
        for (const name of ['away', 'page', 'unset'])
          expect(of(found, `agent ${name}`)).toMatchObject({
            level: 'fail',
            next: expect.stringMatching(/\S/),
          });
        expect(of(found, 'agent unset')?.message).toContain('NOT_SET_ANYWHERE');
        expect(found.findings).toContainEqual(
          expect.objectContaining({
            subject: 'agent closed',
            level: 'fail',
            message: expect.stringContaining('does not accept'),
          }),
        );
        expect(found.ok).toBe(false);
      },
    );
  });

  it('a clock that runs wrong is told, and is no failure', async () => {
    const agent = await plainAgent('1.0');
    const home = await temporaryDirectory();
    try {
      const card = await (await fetch(new URL('/.well-known/agent-card.json', agent.url))).text();
      await listening(
        (_, response) => {
          response.setHeader('date', 'Thu, 01 Jan 2099 00:00:00 GMT');
          response.setHeader('content-type', 'application/json');
          response.end(card);
        },
        async (port) => {
          const args = ['doctor', '--json', '--agent-url', `http://127.0.0.1:${String(port)}`];
          const { stdout, code } = await cli(args, { home });
          expect(report.parse(JSON.parse(stdout)).findings).toContainEqual(
            expect.objectContaining({ level: 'warn', message: expect.stringMatching(/\d+ s ahead/) }),
          );
          expect(code).toBe(0);
        },
      );
    } finally {
      await agent.stop();
    }
  });

  it('a port that another program has, and a process that only looks like the server', async () => {
    const home = await temporaryDirectory();
    const stateDir = join(home, 'state');
    await mkdir(stateDir, { mode: 0o700 });
    await listening(
      (_, response) => response.writeHead(404).end(),
      async (port) => {
        const at = { home, env: { A2A_SERVER_PORT: String(port) } };
        const taken = await cli(['doctor', '--state-dir', stateDir], at);
        expect(taken.stdout).toMatch(new RegExp(`port ${String(port)} is taken[^]*A2A_SERVER_PORT`));
        expect(taken.code).toBe(1);
        await writeServerRecord(stateDir, {
          url: `http://127.0.0.1:${String(port)}`,
          pid: process.pid,
          version: '0',
          startedAt: 'then',
        });
        const strange = await cli(['doctor', '--state-dir', stateDir], at);
        expect(strange.stdout).toContain(`process ${String(process.pid)}`);
        expect((await cli(['server', 'stop', '--state-dir', stateDir], at)).code).toBe(69);
      },
    );
  });

  it("a client's settings that cannot be read, or start what is not there", async () => {
    const on = await cliStage();
    await writeFile(join(on.at.home, '.mcp.json'), '{');
    const gone = { command: process.execPath, args: ['/gone/bridge/main.js'] };
    await writeFile(join(on.at.home, '.claude.json'), JSON.stringify({ mcpServers: { b: gone } }));
    const found = await examined(on);
    expect(of(found, 'Claude Code, project')).toMatchObject({ level: 'fail' });
    expect(of(found, 'Claude Code, user')).toMatchObject({
      level: 'fail',
      message: expect.stringContaining('/gone/bridge/main.js'),
      next: expect.stringContaining('install'),
    });
  });

  it('settings that cannot work are said before anything is looked at', async () => {
    const home = await temporaryDirectory();
    const { code, stderr } = await cli(['doctor', '--wait-seconds', 'long'], { home });
    expect(stderr).toContain('waitSeconds');
    expect(code).toBe(78);
  });
});
