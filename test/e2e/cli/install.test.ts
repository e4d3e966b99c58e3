/**
 * Tests that `install` of the built program writes the bridge into settings files of real clients. What it writes for each
 * client is in test/unit/bridge/cli/commands/install.test.ts.
 */
import { describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { chmod, cp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type ClientMachine, clientMachine, machineWithClients } from '../../support/client-machine.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, type Outcome, PROGRAM } from './support/cli.ts';

const runAt =
  (home: string, env: Readonly<Record<string, string>>) =>
  (...args: string[]): Promise<Outcome> =>
    cli(args, { home, env });
const person = (): Promise<ClientMachine> => clientMachine(runAt);

/** Copies the built program to where npx copies packages. */
async function copiedByNpx(named: string): Promise<string> {
  const directory = join(await temporaryDirectory(), '_npx', '5f2a9d');
  const copy = join(directory, 'node_modules', 'mcp-a2a-bridge');
  await cp('dist', join(copy, 'dist'), {
    recursive: true,
    filter: (path) => !path.endsWith('.map') && !/^dist\/(a2a-server|web|client)\//.test(path),
  });
  await cp('package.json', join(copy, 'package.json'));
  await writeFile(join(directory, 'package.json'), JSON.stringify({ _npx: { packages: [named] } }));
  return join(copy, 'dist', 'bridge', 'main.js');
}

const entry = z.looseObject({ command: z.string(), args: z.array(z.string()) });
const standsIn = (text: string, key: string): unknown =>
  z.record(z.string(), z.record(z.string(), z.unknown())).parse(JSON.parse(text))[key]?.['a2a-bridge'];

describe('the command install', () => {
  it("the README's command registers the bridge for the user, in every directory", async () => {
    const readme = await readFile('README.md', 'utf8');
    const [, words = ''] =
      /^(?:node dist\/bridge\/main\.js|npx -y mcp-a2a-bridge) (install claude)\b/m.exec(readme) ?? [];
    const { run, read, home } = await person();
    expect((await run(...words.split(' '))).code).toBe(0);
    expect(standsIn(await read('.claude.json'), 'mcpServers')).toMatchObject({ args: [PROGRAM] });
    expect(await readdir(home)).not.toContain('.mcp.json');
  });

  it('install writes an entry that starts a bridge with its tools and the given arguments', async () => {
    const { run, read, home } = await person();
    await run('install', 'claude', '--', '--tool-prefix', 'gemini_', '--no-auto-start');
    const { command, args } = entry.parse(standsIn(await read('.claude.json'), 'mcpServers'));
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({ command, args, env: { HOME: home, PATH: '' }, stderr: 'ignore' }),
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('gemini_delegate_task_to_assistant');
    await client.close();
  });

  it('install changes one entry, keeps comments and all other content, and writes a backup next to the file', async () => {
    const { run, has, read, home } = await person();
    const before = `{\n    // mine\n    "theme": "dark", /* and */\n    "mcpServers": {\n        "other": { // theirs\n            "command": "x"\n        }, // keep\n    },\n}\n`;
    const file = await has('.gemini/settings.json', before);
    await chmod(file, 0o640);
    expect((await run('install', 'gemini')).code).toBe(0);
    const after = await read('.gemini/settings.json');
    for (const kept of [
      '// mine',
      '"dark", /* and */',
      '"other": { // theirs\n            "command": "x"\n',
      '// keep',
    ])
      expect(after).toContain(kept);
    expect(after).toContain('\n        "a2a-bridge": {');
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    const backups = (await readdir(join(home, '.gemini'))).filter((name) => name.endsWith('.bak'));
    expect(backups).toHaveLength(1);
    expect(await read(join('.gemini', backups[0] ?? ''))).toBe(before);
    expect((await run('uninstall', 'gemini')).code).toBe(0);
    expect(await read('.gemini/settings.json')).not.toContain('a2a-bridge');
    expect(await read('.gemini/settings.json')).toContain('// keep');
  });

  it('install --dry-run shows the change and writes nothing; --json prints it for a program', async () => {
    const { run, home } = await person();
    const { stdout } = await run('install', 'cursor', '--dry-run');
    expect(stdout).toContain('+    "a2a-bridge": {');
    expect(JSON.parse((await run('install', 'cursor', '--dry-run', '--json')).stdout)).toMatchObject({
      client: 'cursor',
      scope: 'user',
      changed: false,
      dryRun: true,
    });
    expect(await readdir(home)).not.toContain('.cursor');
  });
});

it('a misspelt command is refused', async () => {
  const { run } = await person();
  expect(await run('instal')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("unknown command 'instal'"),
  });
});

describe('the option --all', () => {
  it('writes to each client that is there, and names the clients that it skips', async () => {
    const { run, read, home } = await machineWithClients(runAt, {
      programs: ['claude'],
      directories: ['.codex'],
    });
    const { code, stdout } = await run('install', '--all', '--', '--tool-prefix', 'gemini_');
    expect(stdout).toMatch(
      /\nClaude Code: written\.\nGemini CLI: skipped\. .*gemini.*\nCodex: written\.\nCursor: skipped\. .*\nVS Code: skipped\. /,
    );
    expect(code).toBe(0);
    expect(standsIn(await read('.claude.json'), 'mcpServers')).toMatchObject({
      args: [PROGRAM, '--tool-prefix', 'gemini_'],
    });
    expect(await read('.codex/config.toml')).toContain('"--tool-prefix"');
    expect((await readdir(home)).filter((name) => /gemini|cursor|config$/.test(name))).toEqual([]);
    expect((await run('uninstall', '--all')).stdout).toMatch(/\nClaude Code: written\.\n/);
    expect(standsIn(await read('.claude.json'), 'mcpServers')).toBeUndefined();
  });
});

describe('install under npx', () => {
  it('the entry starts npx, because npm may delete the copy', async () => {
    const program = await copiedByNpx('mcp-a2a-bridge@0.1.0');
    const { home, read } = await person();
    expect((await cli(['install', 'claude'], { home, program })).code).toBe(0);
    expect(standsIn(await read('.claude.json'), 'mcpServers')).toMatchObject({
      command: 'npx',
      args: ['-y', 'mcp-a2a-bridge@0.1.0'],
    });
  });

  it('a tarball is refused with what to do instead, and nothing is written', async () => {
    const program = await copiedByNpx('./mcp-a2a-bridge-0.1.0.tgz');
    const { home } = await person();
    const { code, stderr } = await cli(['install', 'claude'], { home, program });
    expect(stderr).toContain('npm install -g');
    expect(code).toBe(78);
    expect(await readdir(home)).not.toContain('.claude.json');
  });
});
