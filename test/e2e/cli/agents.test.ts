/** Tests the commands that list, check, add and remove agents, with agents that listen on real sockets. */
import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUpLater } from '../../support/clean-up.ts';
import { hostileAgent } from '../../support/fake-agent-hostile.ts';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { FakeAgent } from '../../support/fake-agent.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, type Outcome } from './support/cli.ts';
import { cliStage } from './support/cli-stage.ts';

function stopping<A extends { stop: () => unknown }>(agent: A): A {
  cleanUpLater(() => agent.stop());
  return agent;
}

/** A person with an empty state directory. */
async function person(env: Readonly<Record<string, string>> = {}) {
  const home = await temporaryDirectory();
  const stateDir = join(home, 'state');
  const path = join(stateDir, 'config.json');
  return {
    path,
    stateDir,
    run: (...args: string[]): Promise<Outcome> =>
      cli(['agents', ...args, '--state-dir', stateDir], { home, env }),
    file: async (): Promise<unknown> => JSON.parse(await readFile(path, 'utf8')),
  };
}

const json = ({ stdout }: Outcome): unknown => JSON.parse(stdout);

describe('the commands agents', () => {
  it('add tries the agent, says what it can do, and writes it; list, check and remove use the entry', async () => {
    const agent = stopping(await FakeAgent.start());
    const { run, file, path } = await person();
    const dry = await run('add', agent.url, '--dry-run');
    expect([dry.code, existsSync(path)]).toEqual([0, false]);
    const { code, stdout } = await run('add', agent.url, '--name', 'team');
    expect(code).toBe(0);
    expect(stdout).toMatch(/\n {2}streaming {3}yes\n[^]*\n {2}approvals {3}yes: /);
    expect(stdout).toContain('Delegated tasks now go to "team".');
    expect(await file()).toEqual({ bridge: { agents: { team: { url: agent.url } } } });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(agent.count('SendMessage') + agent.count('SendStreamingMessage')).toBe(0);

    const again = await run('add', agent.url, '--name', 'team', '--json');
    expect(json(again)).toMatchObject({ agent: 'team', changed: false });
    expect(json(await run('list', '--json'))).toEqual({
      agents: [{ name: 'team', url: agent.url, isDefault: true }],
    });
    const found = { agent: 'team', findings: [{ level: 'ok' }], abilities: { cancel: 'yes' } };
    expect(json(await run('check', 'team', '--json'))).toMatchObject({ agents: [found] });
    expect(await run('remove', 'team')).toMatchObject({ code: 0 });
    expect(await file()).toEqual({ bridge: { agents: {} } });
    expect(await run('remove', 'constructor')).toMatchObject({ code: 3 });
  });

  it.each([
    ['1.0', 'yes'],
    ['0.3', 'no'],
  ] as const)('an agent of A2A %s on the SDK of the protocol: what it can do', async (version, list) => {
    const agent = stopping(await plainAgent(version));
    const { run } = await person();
    expect(json(await run('add', agent.url, '--json'))).toMatchObject({
      changed: true,
      abilities: {
        dialect: 'plain',
        approvals: 'questions',
        resumption: 'current-state',
        duplicates: 'unknown',
        cancel: 'yes',
        list,
      },
    });
    expect(agent.received).toEqual([]);
  });

  it('a token is named, never written; an agent that refuses it is not added', async () => {
    const { server, run: serve } = await cliStage();
    await serve('tasks');
    const { run, file, path } = await person({
      TEAM_TOKEN: await readFile(join(server.stateDir, 'token'), 'utf8'),
    });
    const refused = await run('add', server.url);
    expect([refused.code, existsSync(path)]).toEqual([1, false]);
    expect(refused.stdout).toContain('--token-variable');
    expect(await run('add', server.url, '--token-variable', 'TEAM_TOKEN')).toMatchObject({ code: 0 });
    expect(await file()).toMatchObject({
      bridge: { agents: { 'mcp-a2a-bridge-agent': { tokenEnv: 'TEAM_TOKEN' } } },
    });
    const both = ['--token-variable', 'A', '--token-command', 'b'];
    expect(await run('add', server.url, ...both)).toMatchObject({ code: 2 });
  });

  it('a name that another agent has, a damaged file and a wrong URL are refused, and change nothing', async () => {
    const agent = stopping(await FakeAgent.start());
    const { run, path } = await person();
    await run('add', agent.url, '--name', 'team');
    const before = await readFile(path, 'utf8');
    const other = stopping(await FakeAgent.start());
    expect(await run('add', other.url, '--name', 'team')).toMatchObject({ code: 2 });
    expect(await run('add', 'ftp://agent')).toMatchObject({ code: 2 });
    expect(await run('add', other.url, '--name', '../x')).toMatchObject({ code: 2 });
    expect(await readFile(path, 'utf8')).toBe(before);
    await writeFile(path, '{"bridge": ');
    expect(await run('add', other.url)).toMatchObject({ code: 78 });
    expect(await readFile(path, 'utf8')).toBe('{"bridge": ');
  });

  it('a hostile card: nothing on it reaches the terminal as a control character, and an endless one ends', async () => {
    const card = JSON.stringify({
      name: '\u{1b}]0;x\u{7}\u{202e}evil',
      version: '1\u{1b}[2J',
      supportedInterfaces: [
        { url: 'http://127.0.0.1:9', protocolBinding: 'JSONRPC\u{7}', protocolVersion: '1.0' },
      ],
      capabilities: {},
      skills: [],
    });
    const odd = stopping(
      await hostileAgent((_, response) => response.setHeader('content-type', 'application/json').end(card), {
        card: true,
      }),
    );
    const { run, path } = await person();
    const { stdout, stderr, code } = await run('add', odd.url);
    expect(code).not.toBe(0);
    // eslint-disable-next-line no-control-regex
    expect(stdout + stderr).not.toMatch(/[\u{1b}\u{7}\u{202e}]/u);
    const huge = stopping(
      await hostileAgent(
        (_, response) => {
          response.setHeader('content-type', 'application/json');
          const more = (): void =>
            void (response.write(' '.repeat(1 << 20)) ? setImmediate(more) : response.once('drain', more));
          more();
        },
        { card: true },
      ),
    );
    expect(await run('add', huge.url)).toMatchObject({ code: 1 });
    expect(existsSync(path)).toBe(false);
  });

  it('import lists a registry, and adds the agents that can be used; an agent that fails stops no other', async () => {
    const [agent, locked] = [
      stopping(await FakeAgent.start()),
      stopping(await FakeAgent.start({ token: 'secret' })),
    ];
    const list = JSON.stringify({
      agents: [
        { name: 'First one', description: 'Adds.', url: 'http://127.0.0.1:1' },
        { name: 'Team', url: agent.url, token: 'leaked', headers: { authorization: 'Bearer leaked' } },
        { name: 'Locked', url: locked.url },
      ],
    });
    const registry = stopping(
      await hostileAgent((_, response) => response.setHeader('content-type', 'text/plain').end(list), {
        card: true,
      }),
    );
    const { run, file, path } = await person();
    const shown = await run('import', `${registry.url}/agents`);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/NAME +URL +AGENT\nfirst-one /) });
    expect(existsSync(path)).toBe(false);
    expect(await run('import', `${registry.url}/agents`, 'taem')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Similar: team'),
    });
    const all = await run('import', `${registry.url}/agents`, '--all', '--json');
    expect(all.code).toBe(1);
    expect(json(all)).toMatchObject({
      changed: true,
      agents: [
        { name: 'first-one', outcome: 'failed' },
        { name: 'team', outcome: 'usable', url: agent.url },
        { name: 'locked', outcome: 'refused' },
      ],
    });
    expect(await file()).toEqual({ bridge: { agents: { team: { url: agent.url } } } });
    expect(JSON.stringify(agent.requests)).not.toContain('leaked');
    expect(await run('import', `${registry.url}/agents`, 'Team')).toMatchObject({ code: 0 });
  });
});
