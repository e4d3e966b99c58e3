/** Tests what doctor finds in the settings of MCP clients. The entries are those that the command `install` writes. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ClientEnvironment, McpClientProgram } from '../../../../../bridge/cli/clients/client.ts';
import { type ClientName, CLIENTS } from '../../../../../bridge/cli/clients/clients.ts';
import { readEditableConfig } from '../../../../../bridge/cli/clients/config-file.ts';
import {
  configFormatOf,
  type ConfigChange,
  putBridgeEntry,
  removeBridgeEntry,
} from '../../../../../bridge/cli/clients/config-text.ts';
import { checkClients } from '../../../../../bridge/cli/doctor/check-clients.ts';
import type { CheckResult } from '../../../../../shared/runtime/check-result.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

let around: ClientEnvironment;
let script: string;

beforeEach(async () => {
  const [home, cwd] = [await temporaryDirectory(), await temporaryDirectory()];
  around = { env: { PATH: '' }, platform: process.platform, home, cwd };
  script = await written(join(home, 'bridge', 'main.js'), '');
});

async function written(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

interface EntryPlace {
  scope?: 'user' | 'project';
  name?: string;
}

async function install(name: ClientName, { args = [], ...place }: EntryPlace & { args?: string[] } = {}) {
  const client: McpClientProgram = CLIENTS[name];
  const entry = client.entry({ command: process.execPath, args: [script, ...args] });
  await change(client, place, (text, keys) =>
    putBridgeEntry(configFormatOf(client.format), text, {
      keys,
      entry,
      ...(client.defaults && { defaults: client.defaults }),
    }),
  );
}

async function uninstall(name: ClientName, place: EntryPlace): Promise<void> {
  const client: McpClientProgram = CLIENTS[name];
  await change(client, place, (text, keys) => removeBridgeEntry(configFormatOf(client.format), text, keys));
}

async function change(
  { places }: McpClientProgram,
  { scope = 'user', name = 'a2a-bridge' }: EntryPlace,
  decide: (text: string, keys: readonly string[]) => ConfigChange,
): Promise<void> {
  const place = await places[scope]?.(around);
  if (place === undefined) throw new Error(`the client has no scope ${scope}`);
  const { path, text } = await readEditableConfig(place.path);
  const changed = decide(text, [...place.section, name]);
  if (changed.type !== 'changed') throw new Error(`${path} was not changed: ${changed.type}`);
  await written(path, changed.text);
}

async function finding(subject: string): Promise<CheckResult | undefined> {
  return (await checkClients(around)).find((each) => each.subject === subject);
}

describe('doctor’s check of the clients', () => {
  it('doctor reports two entries of the bridge for one client', async () => {
    await install('claude');
    await install('claude', { scope: 'project' });
    expect(await finding('Claude Code, user and project')).toMatchObject({
      level: 'warn',
      next: expect.stringContaining('uninstall claude --scope project --name a2a-bridge'),
    });
    await uninstall('claude', { scope: 'project' });
    await install('claude', { name: 'gemini', args: ['--tool-prefix', 'gemini_'] });
    const levels = (await checkClients(around)).map(({ level }) => level);
    expect(levels).toEqual(['ok', 'ok']);
    await install('claude', { name: 'second' });
    expect(await finding('Claude Code, user and user')).toMatchObject({
      level: 'fail',
      message: expect.stringMatching(/"a2a-bridge" in .* and "second" in .* the same tool names/),
    });
    await uninstall('claude', { name: 'second' });
    await install('claude', { scope: 'project', args: ['--no-auto-start'] });
    expect((await finding('Claude Code, user and project'))?.level).toBe('fail');
  });

  it('doctor reports an entry with a setting that is unsafe', async () => {
    await install('gemini');
    expect(await finding('Gemini CLI, user')).toMatchObject({ level: 'ok' });
    const file = join(around.home, '.gemini', 'settings.json');
    await written(file, (await readFile(file, 'utf8')).replace('"trust": false', '"trust": true'));
    expect(await finding('Gemini CLI, user')).toMatchObject({
      level: 'warn',
      message: expect.stringContaining('"trust"'),
    });
  });

  it.each<[ClientName, string, string, string]>([
    [
      'claude',
      'Claude Code',
      '.claude/settings.json',
      '{ "enabledPlugins": { "a2a-bridge@mcp-a2a-bridge": true } }',
    ],
    ['codex', 'Codex', '.codex/config.toml', '[plugins."a2a-bridge@mcp-a2a-bridge"]\nenabled = true\n'],
    [
      'gemini',
      'Gemini CLI',
      '.gemini/extensions/extension-enablement.json',
      '{ "a2a-bridge": { "overrides": ["/*"] } }',
    ],
  ])(
    'doctor finds the plugin of %s, and warns when an entry starts the bridge too',
    async (client, title, path, text) => {
      const file = await written(join(around.home, path), text);
      expect(await finding(`${title}, plugin`)).toMatchObject({ level: 'ok' });
      expect(await finding('clients')).toBeUndefined();
      await install(client);
      expect(await finding(`${title}, plugin`)).toMatchObject({
        level: 'warn',
        next: expect.stringContaining(`uninstall ${client} --scope user --name a2a-bridge`),
      });
      await written(file, text.replace('true', 'false').replace(/^\{ "a2a.*/, '{}'));
      expect(await finding(`${title}, plugin`)).toBeUndefined();
    },
  );

  it('doctor reports an entry whose arguments do not start the bridge', async () => {
    await install('claude', { args: ['--agent-url', 'https://agent.example.com'] });
    const file = join(around.home, '.claude.json');
    await written(file, (await readFile(file, 'utf8')).replace('--agent-url', '--agnt-url'));
    expect(await finding('Claude Code, user')).toMatchObject({
      level: 'fail',
      message: expect.stringContaining("unknown option '--agnt-url'"),
    });
  });

  it('doctor warns of an entry that starts a copy of npx, which npm may delete', async () => {
    const copy = join(around.home, '_npx', '5f2', 'node_modules', 'mcp-a2a-bridge', 'dist', 'bridge');
    script = await written(join(copy, 'main.js'), '');
    await install('claude');
    expect(await finding('Claude Code, user')).toMatchObject({
      level: 'warn',
      message: expect.stringContaining('a temporary copy'),
      next: expect.stringContaining('install'),
    });
  });
});

it('a settings file that cannot be used is named once, with its problem', async () => {
  const path = join(around.home, '.gemini', 'settings.json');
  await mkdir(dirname(path));
  await writeFile(path, Buffer.from('{"name": "J\u{fc}rgen"}', 'latin1'));
  expect(await checkClients(around)).toEqual([
    expect.objectContaining({
      level: 'fail',
      message: `${path} was left as it is: it is not UTF-8. Save it as UTF-8 first.`,
    }),
  ]);
});
