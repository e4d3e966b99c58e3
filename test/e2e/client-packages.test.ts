/** Tests the packages for MCP clients as clients use them: each starts its own copy of the program. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const server = z.object({ command: z.string(), args: z.array(z.string()) });
const listed = z.object({ mcpServers: z.object({ 'a2a-bridge': server }) });
const bundle = z.object({ server: z.object({ mcp_config: server }) });

/** The file that names the command, and the variable for the package's directory. */
const PACKAGES = [
  ['claude-code', '.mcp.json', '${CLAUDE_PLUGIN_ROOT}'],
  ['codex', '.codex-plugin/plugin.json', undefined],
  ['gemini-cli', 'gemini-extension.json', '${extensionPath}'],
  ['agent-plugin', 'mcp.json', '${PLUGIN_ROOT}'],
  ['desktop-bundle', 'manifest.json', '${__dirname}'],
] as const;

describe('the script that writes the packages for MCP clients', () => {
  let out: string;
  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), 'client-packages-'));
    const script = ['scripts/run.mjs', 'scripts/client-packages/write-packages.ts', '--out', out];
    await promisify(execFile)(process.execPath, script);
  });

  afterAll(() => rm(out, { recursive: true, force: true }));

  it.each(PACKAGES)(
    'the package %s starts the bridge where the client has put it',
    async (directory, file, variable) => {
      let root = join(out, directory);
      const text: unknown = JSON.parse(await readFile(join(root, file), 'utf8'));
      const { command, args } =
        directory === 'desktop-bundle'
          ? bundle.parse(text).server.mcp_config
          : listed.parse(text).mcpServers['a2a-bridge'];
      // A client installs a package somewhere else. The plugin of Codex names its own directory.
      if (variable !== undefined) {
        const moved = join(await temporaryDirectory(), 'installed');
        await rename(root, moved);
        root = moved;
      }
      const home = await temporaryDirectory();
      const replaced = args.map((each) =>
        each.replaceAll(variable ?? root, root).replaceAll('${user_config.workspace}', home),
      );
      const client = new Client({ name: 'test', version: '1' });
      const env = { HOME: home, PATH: process.env['PATH'] ?? '', MCP_A2A_BRIDGE_AUTO_START: 'no' };
      try {
        await client.connect(
          new StdioClientTransport({ command, args: replaced, env, cwd: home, stderr: 'ignore' }),
        );
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toContain('delegate_task_to_assistant');
        // This call opens the database, so it needs the native library of the package.
        const sessions = await client.callTool({ name: 'list_all_active_sessions', arguments: {} });
        expect(JSON.stringify(sessions.content)).not.toMatch(/Cannot find module|libsql/);
      } finally {
        await client.close();
      }
    },
  );
});
