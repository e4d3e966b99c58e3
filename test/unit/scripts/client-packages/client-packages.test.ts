import { parse as parseToml } from '@decimalturn/toml-patch';
import { describe, expect, it } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { MODEL_TOOL_NAMES } from '../../../../bridge/tool-names/tool-names.ts';
import { clientPackages } from '../../../../scripts/client-packages/client-packages.ts';
import { parseCommand } from '../../../../scripts/client-packages/parse-command.ts';
import { describePackage } from '../../../../scripts/client-packages/package-description.ts';
import { JSON_FILES, TOML_FILES } from '../../../support/client-package-schemas.ts';

const SOURCES = 'scripts/client-packages';
const PACKAGE = await readFile('package.json', 'utf8');
const RELEASED = JSON.stringify({
  ...JSON.parse(PACKAGE),
  repository: 'https://github.com/ada/mcp-a2a-bridge',
  mcpName: 'io.github.ada/mcp-a2a-bridge',
});

/** Returns the text of each generated file, by its path. */
async function generated(
  text: string,
  options: { release: boolean },
): Promise<Readonly<Record<string, string>>> {
  const files = await readdir(join(SOURCES, 'commands'));
  const commands = await Promise.all(
    files.map(async (file) =>
      parseCommand(parse(file).name, await readFile(join(SOURCES, 'commands', file), 'utf8')),
    ),
  );
  const { common, packages } = clientPackages(describePackage(text, options), {
    out: '/out',
    commands,
    platform: 'linux',
  });
  const all = Object.entries(packages).flatMap(([directory, content]) =>
    Object.entries(content).map(([path, each]) => [`${directory}/${path}`, each] as const),
  );
  return { ...common, ...Object.fromEntries(all) };
}

describe('the packages for MCP clients', () => {
  it.each([
    ['with the program of this clone', PACKAGE, false, ['server.json', 'links.md']],
    ['of a release', RELEASED, true, []],
  ])('each file of the packages %s has the format of its client', async (_, text, release, left) => {
    const files = await generated(text, { release });
    const expected = [...Object.keys(JSON_FILES), ...Object.keys(TOML_FILES), 'links.md'];
    expect(Object.keys(files).toSorted()).toEqual(expected.filter((path) => !left.includes(path)).toSorted());
    for (const [path, schema] of Object.entries(JSON_FILES))
      if (files[path] !== undefined) schema.parse(JSON.parse(files[path]));
    for (const [path, schema] of Object.entries(TOML_FILES)) schema.parse(parseToml(files[path] ?? ''));
  });

  it('the packages of a clone start its program; the packages of a release start the published version', async () => {
    const clone = await generated(PACKAGE, { release: false });
    for (const [path, start] of [
      ['claude-code/.mcp.json', '"${CLAUDE_PLUGIN_ROOT}/program/dist/bridge/main.js"'],
      ['codex/.codex-plugin/plugin.json', '"/out/codex/program/dist/bridge/main.js"'],
      ['gemini-cli/gemini-extension.json', '"${extensionPath}/program/dist/bridge/main.js"'],
      ['agent-plugin/mcp.json', '"${PLUGIN_ROOT}/program/dist/bridge/main.js"'],
      ['desktop-bundle/manifest.json', '"${__dirname}/program/dist/bridge/main.js"'],
    ] as const)
      expect(clone[path]).toContain(start);
    const released = await generated(RELEASED, { release: true });
    const { version } = describePackage(RELEASED, { release: true });
    for (const [path, text] of Object.entries(released))
      if (/^(claude-code\/\.mcp|codex|gemini-cli\/gemini|agent-plugin\/mcp)/.test(path)) {
        expect(text).toContain(`"mcp-a2a-bridge@${version}"`);
        expect(text).not.toContain('/program/');
      }
    // A desktop bundle is installed without npm.
    expect(released['desktop-bundle/manifest.json']).toContain('${__dirname}/program/');
  });

  it('a release without the public repository is refused, with the command that sets it', () => {
    const { repository: _, mcpName: __, ...without } = JSON.parse(RELEASED);
    expect(() => describePackage(JSON.stringify(without), { release: true })).toThrow(/npm pkg set/);
  });

  it('the links of a release contain the entry that install would write', async () => {
    const { 'links.md': links = '' } = await generated(RELEASED, { release: true });
    const [vscode, cursor] = [...links.matchAll(/\]\((https:[^)]+)\)$/gm)].map(
      ([, url = '']) => new URL(url),
    );
    const published = ['-y', 'mcp-a2a-bridge@0.1.0'];
    expect(JSON.parse(vscode?.searchParams.get('config') ?? '')).toEqual({
      type: 'stdio',
      command: 'npx',
      args: [...published, '--workspace-from-roots'],
    });
    const config = Buffer.from(cursor?.searchParams.get('config') ?? '', 'base64').toString();
    expect(JSON.parse(config)).toMatchObject({ args: [...published, '--workspace', '${workspaceFolder}'] });
    expect(links).not.toMatch(/\]\([^)]*[+\s][^)]*\)/);
  });

  it('the skill has the form of the Agent Skills specification', async () => {
    for (const directory of await readdir(join(SOURCES, 'skills'))) {
      const text = await readFile(join(SOURCES, 'skills', directory, 'SKILL.md'), 'utf8');
      const [, name, description = ''] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(text) ?? [];
      expect(name).toBe(directory);
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(description.length).toBeLessThanOrEqual(1024);
      // YAML would read a colon with a space as a key.
      expect(description).not.toMatch(/: |<|>/);
    }
  });

  it('the skill and the commands name only tools that exist', async () => {
    const files = (await readdir(SOURCES, { recursive: true })).filter((path) => path.endsWith('.md'));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const text = await readFile(join(SOURCES, file), 'utf8');
      const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+){2,})`/g)].map(([, name]) => name);
      // This command changes a setting of the client. The others are about tools.
      if (!file.endsWith('status-line.md')) expect(named.length).toBeGreaterThan(0);
      expect(MODEL_TOOL_NAMES).toEqual(expect.arrayContaining(named));
    }
  });
});
